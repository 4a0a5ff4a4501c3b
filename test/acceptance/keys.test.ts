// Keys and profiles: a key is shown once and stored only in the profile; a revoked key and a damaged file are reported.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CreatedKey, KeyRecord } from '../../src/service/administration.ts';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { SmallDisk } from '../support/small-disk.ts';
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

describe('profiles', () => {
  let place: PlaceInProcess;
  beforeEach(async () => {
    place = new PlaceInProcess();
    await place.output(['models']);
  });
  afterEach(() => place.remove());

  test('are listed and selected, and determine the mode', async () => {
    const config = JSON.parse(readFileSync(place.configFile, 'utf8'));
    const { local } = config.profiles;
    config.profiles['echoing'] = { ...local, mode: 'echo' };
    writeFileSync(place.configFile, JSON.stringify(config));
    expect(await place.output(['profiles', 'list'])).toBe(
      '*\tlocal\tembedded\t\n\techoing\tembedded\techo\n',
    );
    expect(await place.parley(['profiles', 'use', 'echoing'])).toMatchObject({
      out: '',
      err: 'Profile echoing is now in use.\n',
    });
    expect(await place.answer(['profiles', 'list'])).toEqual([
      { name: 'local', url: null, store: null, mode: null, current: false },
      { name: 'echoing', url: null, store: null, mode: 'echo', current: true },
    ]);
    expect(await place.output(['chat', '-n', 'same'])).toBe('same\n');
    expect(await place.output(['--profile', 'local', 'chat', '-n', 'same'])).not.toBe('same\n');
    expect(await place.output(['chat', '-n', 'same'], { env: { PARLEY_PROFILE: 'local' } })).not.toBe(
      'same\n',
    );
    expect(await place.output(['chat', '-n', 'same'], { env: { PARLEY_MODE: 'eliza' } })).not.toBe('same\n');
    expect(await place.answer(['profiles', 'use', 'local'])).toEqual({ current: 'local' });
  });

  test('a damaged file is refused by every command, not changed, and restored by the command that the error names', async () => {
    const good = readFileSync(place.configFile, 'utf8');
    const damaged = good.slice(0, good.length / 2);
    writeFileSync(place.configFile, damaged);
    for (const args of [
      ['models'],
      ['chat', '-n', 'x'],
      ['profiles', 'list'],
      ['profiles', 'use', 'local'],
      ['keys', 'list'],
    ]) {
      expectJsonFailure(await place.parley([...args, '--json']), { status: 2, code: 'CONFIG' });
      expect(readFileSync(place.configFile, 'utf8')).toBe(damaged);
    }
    const { err } = await place.parley(['models']);
    expect(err).toContain(place.configFile);
    expect(err).not.toMatch(keyForm);
    const restore = /Restore it: (cp .*)\n/.exec(err)?.[1] ?? 'false';
    execFileSync('bash', ['-c', restore]);
    expect(readFileSync(place.configFile, 'utf8')).toBe(good);
    expect((await place.parley(['models'])).status).toBe(0);
  });

  test('a damaged file without a good copy is moved away by the command that the error names', async () => {
    writeFileSync(place.configFile, '{');
    copyFileSync(place.configFile, `${place.configFile}.last-good`);
    const { err } = await place.parley(['models']);
    execFileSync('bash', ['-c', /: (mv .*)\n/.exec(err)?.[1] ?? 'false']);
    expect(existsSync(place.configFile)).toBe(false);
    expect((await place.parley(['models'])).status).toBe(0);
  });

  test('a field of a wrong type is named, and its value is not', async () => {
    writeFileSync(place.configFile, '{"profiles":{"local":{"keys":["pk_secret"]}}}');
    const { err } = await place.parley(['models']);
    expect(err).toContain('profiles.local.keys is not an object');
    expect(err).not.toContain('pk_secret');
  });
});

describe('doctor', () => {
  const place = new PlaceInProcess();
  const disk = SmallDisk.mount();
  beforeAll(() => place.output(['models']));
  afterAll(() => {
    disk?.unmount();
    place.remove();
  });

  interface Report {
    readonly ok: boolean;
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly hint: string }[];
  }

  test('reports in words and as JSON what is used and that it works', async () => {
    const out = await place.output(['doctor']);
    const names = [
      'parley',
      'configuration',
      'profile',
      'service',
      'key',
      'opens',
      'store',
      'access',
      'modes',
    ];
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ +/).slice(0, 2)),
    ).toEqual(names.map((name) => ['ok', name]));
    for (const used of [place.configFile, place.storeFile, 'wal', 'synchronous full', 'project default']) {
      expect(out).toContain(used);
    }
    const { ok, checks } = await place.answer<Report>(['doctor']);
    expect({ ok, names: checks.map(({ name }) => name) }).toEqual({ ok: true, names });
  });

  test('names the failed check and its remedy, and continues with the other checks', async () => {
    const env = { PARLEY_API_KEY: 'pk_nope' };
    const { status, out } = await place.parley(['doctor'], { env });
    expect(status).toBe(4);
    expect(out).toMatch(/^ok +store .*\nFAIL access .*\(INVALID_API_KEY\)\n +Use a key/m);
  });

  test('names a configuration that others can read, as every command does, and the command that mends it', async () => {
    chmodSync(place.configFile, 0o644);
    const { status, out } = await place.parley(['doctor']);
    const warning = /^Warning: Other users can read the keys in .*\(mode 0644\)\. Run: chmod 600 .*\n$/;
    expect(await place.parley(['verify'])).toMatchObject({ status: 0, err: expect.stringMatching(warning) });
    expect(await place.parley(['verify', '--quiet'])).toMatchObject({ status: 0, err: '' });
    expect(status).toBe(2);
    const [, remedy = ''] =
      /^FAIL configuration .*\(mode 0644\)\. \(CONFIG\)\n +Run: (chmod 600 .*)\n/m.exec(out) ?? [];
    expect(out).toMatch(/^ok +store /m);
    expect((await place.shell(`${remedy} && parley doctor`)).status).toBe(0);
    expect(statSync(place.configFile).mode & 0o777).toBe(0o600);
  });

  test('names directories that all users may write to, as every command does, and the command that mends it', async () => {
    const directories = [place.configDirectory, place.dataDirectory];
    const before = directories.map((directory) => statSync(directory).mode & 0o777);
    for (const directory of directories) chmodSync(directory, 0o777);
    const { status, out } = await place.parley(['doctor']);
    const warning =
      /^Warning: Other users can add files to .*config \(mode 0777\) and .*data \(mode 0777\)\. Run: chmod o-w .*\n$/;
    expect(await place.parley(['verify'])).toMatchObject({ status: 0, err: expect.stringMatching(warning) });
    expect(status).toBe(2);
    const [, remedy = ''] = /^FAIL configuration .*\(CONFIG\)\n +Run: (chmod o-w .*)\n/m.exec(out) ?? [];
    expect((await place.shell(`${remedy} && parley doctor`)).status).toBe(0);
    expect((await place.parley(['verify'])).err).toBe('');
    for (const [index, directory] of directories.entries()) chmodSync(directory, before[index] ?? 0o700);
  });

  test.skipIf(disk === null)('reports a full disk although the store on it can be opened', async () => {
    const env = { PARLEY_DATA_DIR: disk?.path };
    await place.output(['models'], { env });
    disk?.fill(14);
    const chat = await place.parley(['chat', '-m', 'echo', 'hi'], { env });
    expectFailure(chat, { status: 7, code: 'STORAGE_FULL' });
    const full = await place.parley(['doctor'], { env });
    expect(full.status).toBe(7);
    expect(full.out).toMatch(
      /^FAIL store .*parley\.db is almost full: \d+ bytes free.*\(STORAGE_FULL\)\n +.*Free some/m,
    );
    disk?.free();
    expect(await place.output(['doctor'], { env })).toMatch(/^ok +store /m);
  });

  test.skipIf(disk === null)('names a disk that is read-only, as in a container', async () => {
    const env = { PARLEY_DATA_DIR: disk?.path };
    // The real program leaves its log. Without a log, SQLite cannot even read on a full disk.
    expect((await place.binary(['chat', '-n', '-m', 'echo', 'hi'], { env })).status).toBe(0);
    disk?.allowWrites(false);
    try {
      expectFailure(await place.binary(['chat', '-n', 'hi'], { env }), { status: 7, code: 'STORE_UNSAFE' });
      const { status, out } = await place.binary(['doctor'], { env });
      expect(status).toBe(7);
      expect(out).toMatch(/^ok +opens .*\nFAIL store .*cannot be read and written .*\(STORE_UNSAFE\)$/m);
    } finally {
      disk?.allowWrites(true);
    }
  });

  test('works on a damaged configuration', async () => {
    const own = new PlaceInProcess();
    await own.output(['models']);
    writeFileSync(own.configFile, 'null');
    const { status, out } = await own.parley(['doctor']);
    expect(status).toBe(2);
    expect(out).toMatch(/^ok +parley .*\nFAIL configuration .*damaged.*\(CONFIG\)\n +.*Restore it: cp /);
    const json = await own.parley(['doctor', '--json']);
    const body = JSON.parse(json.out);
    expect({ status: json.status, success: body.success, ok: body.data.ok }).toEqual({
      status: 2,
      success: false,
      ok: false,
    });
    expect(body.data.checks.filter((check: { ok: boolean }) => !check.ok)[0]).toMatchObject({
      name: 'configuration',
    });
    expect(readFileSync(own.configFile, 'utf8')).toBe('null');
    own.remove();
  });
});
