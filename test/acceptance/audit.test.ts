// The audit log for the owner of a store: what it records, what it leaves out, and that a change of it is detected.
import { expect, test } from 'vitest';
import { sessionMark } from '../../src/local/audit-chain.ts';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { AuditEntry } from '../../src/service/audit-entry.ts';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { lookInto } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';

test('the log records all operations of a day, survives a purge and a backup, and a change of it is detected', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const { key, key_id } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'default', '--use']);
  const ids: string[] = [];
  for (const title of ['secret one', 'secret two'])
    ids.push((await place.output(['sessions', 'create', '--title', title])).trim());
  await place.output(['sessions', 'export', '--all', '--format', 'json']);
  await place.output(['sessions', 'delete', ...ids, '--yes']);
  await place.output(['sessions', 'restore', ids[0] ?? '']);
  await place.output(['sessions', 'purge', '--deleted-before', '0m', '--confirm', '1']);
  const unknown = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
  const refused = await place.parley(['verify'], { env: { PARLEY_API_KEY: unknown } });
  expectFailure(refused, { status: 4, code: 'INVALID_API_KEY' });

  const entries = await place.answer<readonly AuditEntry[]>(['audit', 'list']);
  const others = entries.filter(({ what }) => what !== 'key_created' && what !== 'key_revoked');
  expect(others.map(({ what, count }) => `${what} ${count}`)).toEqual([
    ...['export 2', 'delete 2', 'restore 1', 'purge 1', 'refused_login 1'],
  ]);
  expect(others[0]).toMatchObject({ key_id });
  expect(others[1]).toMatchObject({
    key_id,
    ids: ids.map(sessionMark),
    request_id: expect.stringMatching(/./),
  });
  const lines = (await place.output(['audit', 'export', '--what', 'delete'])).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([others[1]]);
  expect(JSON.stringify(entries)).not.toContain('secret');
  const ofErased = await place.answer<readonly AuditEntry[]>(['audit', 'list', '--session', ids[1] ?? '']);
  expect(ofErased.map(({ what }) => what)).toEqual(['export', 'delete']);
  expect(await place.output(['audit', 'list', '--project', 'default', '--what', 'purge'])).toContain(
    '\tpurge\t1\t',
  );

  const end = (await place.output(['audit', 'verify'])).trim();
  expect(end).toMatch(/^\d+:[0-9a-f]{64}$/);
  const backup = `${place.dataDirectory}/audit.backup`;
  await place.output(['store', 'backup', backup]);
  await place.output(['store', 'restore', backup, '--replace']);
  expect((await place.parley(['audit', 'verify', '--head', end])).status).toBe(0);

  lookInto(place.storeFile, (database) => {
    database.exec(`UPDATE audit SET entry = replace(entry, '"count":2', '"count":1') WHERE number = 3`);
  });
  const changed = await place.parley(['audit', 'verify']);
  expectFailure(changed, { status: 7, code: 'STORE_DAMAGED' });
  expect(changed.err).toContain('entry 3');
});

test('the log names a redacted session by the hash of its id', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const title = 'https://ann:s3cr3tpass99@db.example/';
  const id = (await place.output(['sessions', 'create', '--title', title])).trim();
  await place.output(['sessions', 'redact', id, '--secrets', '--yes']);
  const entries = await place.answer<readonly AuditEntry[]>(['audit', 'list', '--session', id]);
  expect(entries.map(({ what, ids }) => [what, ids])).toEqual([['redact', [sessionMark(id)]]]);
});

test('an export over HTTP is logged by the server with its key and the sessions, and a read is not logged', async () => {
  const place = removeAfterTest(new Place());
  const { key, key_id } = await place.answer<CreatedKey>(['keys', 'create', '--project', 'default', '--use']);
  const ids = [];
  for (const title of ['secret one', 'secret two'])
    ids.push((await place.output(['sessions', 'create', '--title', title])).trim());
  const served = await servePlace(place);
  const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
  expect((await place.parley(['sessions', 'messages', ids[0] ?? ''], { env })).status).toBe(0);
  expect((await place.parley(['sessions', 'export', '--all', '--format', 'json'], { env })).status).toBe(0);
  await served.end('SIGTERM');
  const entries = await place.answer<readonly AuditEntry[]>(['audit', 'list', '--what', 'export']);
  expect(entries).toMatchObject([
    { count: 2, key_id, ids: ids.map(sessionMark), request_id: expect.stringMatching(/./) },
  ]);
});

test('a server that stops records the refused keys that it has counted', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['sessions', 'create']);
  const served = await servePlace(place);
  for (let count = 0; count < 3; count += 1)
    await fetch(`${served.url}/v1/models`, { headers: { Authorization: 'Bearer unknown' } });
  await served.end('SIGTERM');
  const entries = await place.answer<readonly AuditEntry[]>(['audit', 'list', '--what', 'refused_login']);
  expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(3);
});
