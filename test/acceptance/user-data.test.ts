// The data of a person: the user of a session, sessions selected by user, and the erasure of all of them, down to the bytes of every file that
// Parley writes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openBasicServer } from '../support/basic-server.ts';
import { callWith, collect } from '../support/calls.ts';
import { openEmbedded } from '../support/embedded.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { textsInFiles } from '../support/remaining-texts.ts';
import { openRemote } from '../support/remote.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';
import { storedKey } from '../support/stored.ts';

const user = 'Canary Jane';
const text = 'canary-of-the-person';

const newPlace = () => removeAfterTest(new PlaceInProcess());

const idsOf = (place: PlaceInProcess, ...words: readonly string[]) =>
  place.output(['sessions', 'list', '--ids', ...words]).then((out) => out.split('\n').filter(Boolean));

describe('the user of a session', () => {
  let place: PlaceInProcess;
  beforeAll(() => {
    place = new PlaceInProcess();
  });
  afterAll(() => place.remove());
  const say = (...words: readonly string[]) =>
    place.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', ...words]);

  test('is set by create, chat, a line of a batch and an import, and is shown and exported', async () => {
    const created = (await place.output(['sessions', 'create', '--user', user])).trim();
    const { session_id: said } = await say('--user', user, 'hi');
    const lines = [{ message: 'one', user }, { message: 'two' }].map((line) => JSON.stringify(line));
    const batch = await place.parley(['chat', '--batch', '-m', 'echo', '--user', 'Bob'], {
      stdin: `${lines.join('\n')}\n`,
    });
    const [one = '', two = ''] = batch.out
      .trimEnd()
      .split('\n')
      .map((line): string => JSON.parse(line).data.session_id);
    expect((await idsOf(place, '--user', user)).toSorted()).toEqual([created, said, one].toSorted());
    expect(await idsOf(place, '--user', 'Bob')).toEqual([two]);
    expect(await place.output(['sessions', 'get', said])).toContain(`user: ${user}\n`);
    const file = join(place.path, 'jane.jsonl');
    await place.output(['sessions', 'export', '--user', user, '-o', file]);
    const records = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(records.map((line) => JSON.parse(line).session.user)).toEqual([user, user, user]);
    const other = newPlace();
    await other.output(['sessions', 'import', file]);
    expect(await idsOf(other, '--user', user)).toHaveLength(3);
  });

  test('must be the user of a session that is continued', async () => {
    const { session_id } = await say('--user', user, 'hi');
    await say('--user', user, '-s', session_id, 'again');
    const words = ['chat', '-n', '-m', 'echo', '--user', 'Bob', '-s', session_id, 'no'];
    expectFailure(await place.parley(words), { status: 2, code: 'INVALID_REQUEST' });
    const { message_count } = await place.answer<{ message_count: number }>(['sessions', 'get', session_id]);
    expect(message_count).toBe(4);
    const copy = ['chat', '-n', '--user', user, '-s', session_id, '--fork', 'no'];
    expectFailure(await place.parley(copy), { status: 2, code: 'USAGE' });
  });

  test('is not silently dropped for a server without users', async () => {
    const server = await openBasicServer({ ids: [] });
    onTestFinished(() => server.close());
    const at = ['--url', server.url, '-m', 'echo'];
    const env = { PARLEY_API_KEY: [...server.keys][0] ?? '' };
    const { status, err } = await place.parley(['chat', '-n', ...at, '--user', user, 'hi'], { env });
    expect([status, err]).toEqual([1, expect.stringContaining('cannot store the user of a session')]);
  });
});

describe('sessions purge --user', () => {
  const purge = (place: PlaceInProcess, ...words: readonly string[]) =>
    place.parley(['sessions', 'purge', '--user', user, ...words]);

  test('leaves no byte of the person in any file, and a receipt that the audit log has too', async () => {
    const place = newPlace();
    await place.output(['chat', '-n', '-m', 'echo', '--user', 'Bob', 'what Bob said']);
    const served = await servePlace(place);
    const { backend } = await openRemote(served.url);
    const key = callWith(storedKey(place));
    const more = { title: `${text} title`, system: `${text} system`, parameters: { stop: [text] }, user };
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const call = { ...key, idempotencyKey: `key-${name}` };
      const request = { mode: 'echo', message: `${text} ${name}`, session_id: null, ...more };
      const events = await collect(backend.service.chat(call, request, 'whole'));
      ids.push(...events.flatMap((one) => (one.event === 'done' ? [one.data.session_id] : [])));
    }
    const [one = '', two = '', three = ''] = ids;
    const query = { limit: 5, cursor: null, user };
    const { items } = (await backend.archive.searchSessions(key, { query: text, ...query })).data;
    expect(items).toHaveLength(3);
    await backend.archive.undoTurn({ ...key, idempotencyKey: 'undo' }, two);
    await backend.archive.changeSession(key, three, { tags: [text], archived: true });
    await backend.close();
    await place.output(['sessions', 'delete', one, two, '--yes']);
    await place.output(['sessions', 'restore', two]);
    const history = join(place.dataDirectory, 'history');
    mkdirSync(history, { recursive: true });
    const typed = [`${text} one`, `/title of ${user}`, 'what Bob said', 'Canary Janes'];
    writeFileSync(join(history, 'local.jsonl'), typed.map((line) => `\n${JSON.stringify(line)}`).join(''));

    const plan = JSON.parse((await purge(place, '--dry-run', '--json')).out).data;
    expect(plan).toMatchObject({ sessions: 3, deleted: 1, messages: 6, busy: [] });
    expectFailure(await purge(place), { status: 2, code: 'USAGE' });
    expectFailure(await purge(place, '--confirm', '2'), { status: 2, code: 'USAGE' });
    const { status, out, err } = await purge(place, '--yes', '--json');
    expect(status).toBe(0);
    const { data } = JSON.parse(out);
    expect(data).toMatchObject({ sessions: 3, messages: 6, history_lines: 2, busy: [], integrity: 'ok' });
    const entries = JSON.parse(await place.output(['audit', 'list', '--what', 'purge', '--json'])).data;
    expect(entries).toMatchObject([{ count: 3, ids: data.hashes }]);
    const named = JSON.parse(await place.output(['audit', 'list', '--session', one, '--json'])).data;
    expect(named.map(({ what }: { readonly what: string }) => what)).toContain('purge');

    await place.output(['store', 'backup', join(place.dataDirectory, 'afterwards.backup')]);
    const { out: log, err: said } = await served.end('SIGTERM');
    expect(await textsInFiles(place.path, ids)).toEqual([]);
    writeFileSync(join(place.dataDirectory, 'server.log'), log + said + out + err);
    const left = await textsInFiles(place.path, [text, user]);
    // The line of a longer name stays.
    expect(left).toEqual([user]);
    expect(readFileSync(join(history, 'local.jsonl'), 'utf8').trim().split('\n')).toEqual([
      ...['"[redacted message]"', '"/title of [redacted user]"', '"what Bob said"', '"Canary Janes"'],
    ]);
    expect(await idsOf(place)).toHaveLength(1);
    for (const way of ['--yes', '--dry-run'])
      expect(await purge(place, way)).toMatchObject({
        out: '',
        err: expect.stringMatching(/^Nothing to erase.*\n$/),
      });
  });

  test('leaves a session in which a turn runs, names it, and erases it when it is given again', async () => {
    const place = newPlace();
    const say = () =>
      place.answer<{ session_id: string }>(['chat', '-n', '-m', 'echo', '--user', user, text]);
    const { session_id: gone } = await say();
    const { session_id: busy } = await say();
    const backend = await openEmbedded(place.dataDirectory);
    onTestFinished(() => backend.close());
    const call = callWith(storedKey(place));
    const request = { mode: 'echo', message: text, session_id: busy };
    const turn = backend.service.chat(call, request, 'chunks')[Symbol.asyncIterator]();
    await turn.next();
    const first = await purge(place, '--yes', '--json');
    expect(first.status).toBe(3);
    expect(first.err).toMatch(/\(SESSION_BUSY\)/);
    expect(JSON.parse(first.out).data).toMatchObject({ sessions: 1, busy: [busy] });
    expectFailure(await place.parley(['sessions', 'get', gone]), { status: 5, code: 'SESSION_NOT_FOUND' });
    expect((await purge(place, '--yes')).status).toBe(6);
    while (!(await turn.next()).done);
    expect((await purge(place, '--yes')).status).toBe(0);
    expect(await idsOf(place)).toEqual([]);
  });

  test('is refused for a server, needs a valid user, and accepts no age', async () => {
    const place = newPlace();
    await place.output(['models']);
    for (const words of [
      ['--user', ''],
      ['--user', user, '--deleted-before', '0d'],
      ['--deleted-before', '0d', '--yes'],
      [],
    ]) {
      const { status } = await place.parley(['sessions', 'purge', ...words]);
      expect([words, status]).toEqual([words, 2]);
    }
    const far = await place.parley(['sessions', 'purge', '--user', user, '--url', 'https://example.com'], {
      env: { PARLEY_API_KEY: 'pk_x' },
    });
    expectFailure(far, { status: 1, code: 'UNSUPPORTED' });
  });
});
