// Keys: a key is shown once and stored only in the profile, and a revoked key is refused.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey, KeyRecord } from '../../src/service/administration.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { storedKey } from '../support/stored.ts';

const keyForm = /pk_[0-9A-Za-z]{33}/;

describe('keys', () => {
  const place = new PlaceInProcess();
  beforeAll(() => place.output(['models']));
  afterAll(() => place.remove());

  test('create prints only the key, and describes it once on stderr', async () => {
    const { status, out, err } = await place.parley([
      'keys',
      'create',
      '--project',
      'billing',
      '--name',
      'ci',
    ]);
    expect(status).toBe(0);
    expect(out).toMatch(new RegExp(`^${keyForm.source}\n$`));
    expect(err).toMatch(/^Key key_\w+ of project billing\..*PARLEY_API_KEY\.\n$/);
    const env = { PARLEY_API_KEY: out.trimEnd() };
    expect(await place.answer(['verify'], { env })).toMatchObject({
      project_name: 'billing',
      key_name: 'ci',
    });
  });

  test('keys of one project see the same sessions', async () => {
    const make = () => place.answer<CreatedKey>(['keys', 'create', '--project', 'shared']);
    const [one, other] = [await make(), await make()];
    expect(other.project_id).toBe(one.project_id);
    const id = await place.output(['sessions', 'create'], { env: { PARLEY_API_KEY: one.key } });
    expect(await place.output(['sessions', 'list', '--ids'], { env: { PARLEY_API_KEY: other.key } })).toBe(
      id,
    );
  });

  test('list and doctor never show a key, and no file of the data directory contains one', async () => {
    const { key } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'secret']);
    const env = { PARLEY_API_KEY: key };
    await place.output(['chat', '-n', '-m', 'echo', 'hello'], { env });
    const shown = await Promise.all([
      place.output(['keys', 'list']),
      place.output(['keys', 'list', '--json']),
      place.output(['profiles', 'list', '--json']),
      place.output(['doctor', '--json'], { env }),
      place.output(['verify', '--json'], { env }),
    ]);
    const files = readdirSync(place.dataDirectory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(place.dataDirectory, name))
      .filter((path) => statSync(path).isFile());
    expect(files).toContain(place.storeFile);
    for (const text of [...shown, ...files, ...files.map((path) => readFileSync(path, 'latin1'))]) {
      expect(text).not.toMatch(keyForm);
      expect(text).not.toContain(key.slice(3));
    }
    expect(readFileSync(place.configFile, 'utf8')).not.toContain(key);
    expect(storedKey(place)).toMatch(keyForm);
  });

  test('a key with limits is refused outside of its scope and over its budget, and list shows its limits', async () => {
    const make = ['keys', 'create', '--project', 'limited'];
    const reader = await place.answer<CreatedKey>([...make, '--scope', 'read', '--expires', '90d']);
    const left = Date.parse(reader.expires_at ?? '') - Date.parse(reader.created_at);
    expect(Math.round(left / 86_400_000)).toBe(90);
    const read = { env: { PARLEY_API_KEY: reader.key } };
    expect((await place.parley(['sessions', 'list'], read)).status).toBe(0);
    const refused = await place.parley(['chat', '-n', '-m', 'echo', 'hello'], read);
    expectFailure(refused, { status: 4, code: 'FORBIDDEN' });

    const { key } = await place.answer<CreatedKey>([...make, '--turns-per-day', '1', '--name', 'one']);
    const chat = ['chat', '-n', '-m', 'echo', 'hello'];
    await place.output(chat, { env: { PARLEY_API_KEY: key } });
    const over = await place.parley(chat, { env: { PARLEY_API_KEY: key } });
    expectFailure(over, { status: 6, code: 'BUDGET_EXCEEDED' });
    const batch = await place.parley(['chat', '--batch', '-m', 'echo'], {
      ...{ env: { PARLEY_API_KEY: key }, stdin: 'one\ntwo\nthree\nfour\n' },
    });
    expect(batch.status).toBe(6);

    const listed = await place.output(['keys', 'list']);
    expect(listed).toMatch(/valid\tlimited\tkey\t20.*\t\tread\t20.*\t20/);
    expect(listed).toContain('\t1 turn\n');
    const [last] = (await place.answer<readonly KeyRecord[]>(['keys', 'list'])).slice(-1);
    expect(last).toMatchObject({ turns_per_day: 1, tokens_per_day: null, scope: null, expires_at: null });
    expect(Date.parse(last?.last_used_at ?? '')).toBeGreaterThanOrEqual(Date.parse(last?.created_at ?? ''));
    for (const wrong of [
      ['--scope', 'all'],
      ['--turns-per-day', '0'],
      ['--expires', '2001-01-01'],
    ]) {
      const refused = await place.parley([...make, ...wrong]);
      expectFailure(refused, { status: 2, code: 'USAGE' });
      expect(refused.err).toContain(wrong[0]);
    }
  });

  test('a revoked key is refused from the next command on, also in a running session', async () => {
    const { key, key_id } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'gone']);
    const env = { PARLEY_API_KEY: key };
    await place.output(['chat', '-n', '-m', 'echo', 'hello'], { env });
    const { out, err } = await place.parley(['keys', 'revoke', key_id]);
    expect({ out, err }).toEqual({ out: '', err: `Revoked ${key_id} of project gone.\n` });
    const refused = await place.parley(['chat', '-n', '-c', '-m', 'echo', 'hello'], { env });
    expectFailure(refused, { status: 4, code: 'INVALID_API_KEY' });
    const revoked = (await place.answer<readonly KeyRecord[]>(['keys', 'list'])).find(
      (one) => one.key_id === key_id,
    );
    expect(revoked?.revoked_at).toMatch(/^\d{4}-/);
    expect(await place.answer<KeyRecord>(['keys', 'revoke', key_id])).toEqual(revoked);
  });

  test('the revoked key of a profile is refused, and not replaced silently', async () => {
    const own = new PlaceInProcess();
    await own.output(['models']);
    const [key] = await own.answer<readonly KeyRecord[]>(['keys', 'list']);
    await own.output(['keys', 'revoke', key?.key_id ?? '']);
    expectFailure(await own.parley(['models']), { status: 4, code: 'INVALID_API_KEY' });
    expect((await own.answer<readonly KeyRecord[]>(['keys', 'list'])).length).toBe(1);
    own.remove();
  });
});
