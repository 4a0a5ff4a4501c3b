// Pins, the archive and tags on the command line: batches report their changes, are resumed and are undone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sendJson, serve } from '../support/scripted-server.ts';
import { makeSessions } from '../support/stored.ts';

let place: PlaceInProcess;
let ids: readonly string[];
beforeEach(async () => {
  place = new PlaceInProcess();
  await place.output(['models']);
  ids = await makeSessions(place, 3, 'one');
});
afterEach(() => place.remove());

async function session(id: string) {
  return JSON.parse(await place.output(['sessions', 'get', id, '--json'])).data;
}
const tagsOf = async () => Promise.all(ids.map(async (id) => (await session(id)).tags));
const listed = async (...words: readonly string[]) =>
  (await place.output(['sessions', 'list', '--ids', ...words])).split('\n').filter(Boolean).sort();

async function batch(words: readonly string[]): Promise<string> {
  const { err, status } = await place.parley(['sessions', ...words, '--yes']);
  expect(status, err).toBe(0);
  return /--batch (\S+)/.exec(err)?.[1] ?? '';
}

test('the undo of a batch of tags restores exactly the tags that it changed', async () => {
  const [one = '', two = '', three = ''] = ids;
  await place.parley(['sessions', 'tag', one, '+draft', '+kept']);
  await place.parley(['sessions', 'tag', two, '+work']);
  const before = await tagsOf();
  expect(before).toEqual([['draft', 'kept'], ['work'], []]);
  const name = await batch(['tag', one, two, three, '+work', '-draft']);
  expect(await tagsOf()).toEqual([['kept', 'work'], ['work'], ['work']]);
  await place.parley(['sessions', 'tag', three, '+later']);
  expect((await place.parley(['sessions', 'restore', '--batch', name])).status).toBe(0);
  expect(await tagsOf()).toEqual([['draft', 'kept'], ['work'], ['later']]);
});

test('a batch that was killed before its results were stored is completed, and still undone exactly', async () => {
  const [one = ''] = ids;
  await place.parley(['sessions', 'archive', one]);
  const name = await batch(['archive', ...ids]);
  const journal = join(place.dataDirectory, 'batches', `${name}.journal`);
  // The journal of a process that was killed before the response arrived.
  writeFileSync(journal, readFileSync(journal, 'utf8').replace(/^sent 3\n[\s\S]*/m, 'sent 3\n'));
  const early = await place.parley(['sessions', 'restore', '--batch', name]);
  expect(early).toMatchObject({ status: 2, err: expect.stringContaining(`archive --resume ${name}`) });
  const resumed = await place.parley(['sessions', 'archive', '--resume', name]);
  expect(resumed).toMatchObject({ status: 0, out: ids.map((id) => `archived ${id}\n`).join('') });
  expect(await listed()).toEqual([]);
  await place.parley(['sessions', 'restore', '--last']);
  expect(await listed('--archived')).toEqual([one]);
});

test('a batch is continued by its own command alone, and an earlier Parley does not read it', async () => {
  const name = await batch(['pin', ...ids]);
  const { status, err } = await place.parley(['sessions', 'delete', '--resume', name]);
  expect({ status, err }).toEqual({
    status: 2,
    err: expect.stringContaining(`sessions pin --resume ${name}`),
  });
  const journal = readFileSync(join(place.dataDirectory, 'batches', `${name}.journal`), 'utf8');
  expect(journal).toContain('{"version":2,');
});

test('filters select the same sessions for a list and for a batch; archived ones are listed only on request, and exported with all', async () => {
  const [one = '', two = ''] = ids;
  await place.parley(['sessions', 'tag', one, '+work']);
  await place.parley(['sessions', 'archive', two]);
  expect(await listed('--tag', 'work')).toEqual([one]);
  expect(await listed('--archived')).toEqual([two]);
  expect(await listed()).toEqual(ids.filter((id) => id !== two).sort());
  expect(await listed('--older-than', '2020-01-01')).toEqual([]);
  const would = await place.output(['sessions', 'delete', '--newer-than', '2020-01-01', '--dry-run']);
  expect(would.split('\n').filter(Boolean)).toHaveLength(2);
  expect(await place.output(['sessions', 'unarchive', '--title-match', '*', '--dry-run'])).toBe(
    `would_unarchive ${two}\n`,
  );
  expect(
    (await place.output(['sessions', 'export', '--tag', 'work', '--format', 'json'])).split('\n'),
  ).toHaveLength(2);
  expect((await place.output(['sessions', 'export', '--all', '--format', 'json'])).split('\n')).toHaveLength(
    4,
  );
});

test('an archived session is not continued by -c, and accepts messages by its id', async () => {
  await place.parley(['chat', '-n', '-m', 'echo', 'hello']);
  const [last = ''] = (await listed()).filter((id) => !ids.includes(id));
  expect((await place.parley(['sessions', 'archive', last])).status).toBe(0);
  expect(await place.parley(['chat', '-c', '-n', 'more'])).toMatchObject({ status: 2 });
  expect(await place.parley(['chat', '-s', last, '-n', '-m', 'echo', 'more'])).toMatchObject({ status: 0 });
  expect(await session(last)).toMatchObject({ archived: true, message_count: 4 });
});

test('an export keeps the order, and an import gives its own tag to new sessions alone', async () => {
  const [one = '', two = ''] = ids;
  await place.parley(['sessions', 'tag', one, '+größe']);
  await place.parley(['sessions', 'pin', one]);
  await place.parley(['sessions', 'archive', one]);
  const file = join(place.path, 'export.jsonl');
  await place.output(['sessions', 'export', one, two, '--format', 'json', '-o', file]);
  const other = new PlaceInProcess();
  const take = (...words: readonly string[]) => other.parley(['sessions', 'import', file, ...words]);
  const get = async (id: string) => JSON.parse(await other.output(['sessions', 'get', id, '--json'])).data;
  try {
    expect(await take('--tag', 'no tag')).toMatchObject({ status: 2, out: '' });
    expect(await other.output(['sessions', 'batches'])).toBe('');
    expect((await take('--tag', 'new', '--tag', 'bash')).status).toBe(0);
    expect(await get(one)).toEqual({ ...(await session(one)), tags: ['bash', 'größe', 'new'] });
    expect(await get(two)).toEqual({ ...(await session(two)), tags: ['bash', 'new'] });
    expect((await take('--tag', 'again', '--json')).out).not.toMatch(/"status":"(?!unchanged)/);
    expect((await get(two)).tags).toEqual(['bash', 'new']);
  } finally {
    other.remove();
    process.chdir(place.path);
  }
});

test('an import with a tag is refused before anything is sent to a server that keeps no tags', async () => {
  const server = await serve((_, response) => {
    response.setHeader('Parley-Extensions', 'archive, settings');
    sendJson(response, { success: true, data: { modes: [], items: [], next_cursor: null } });
  });
  const file = join(place.path, 'export.jsonl');
  await place.output(['sessions', 'export', ids[0] ?? '', '--format', 'json', '-o', file]);
  const words = ['sessions', 'import', file, '--tag', 'work', '--url', server.url];
  const { err } = await place.parley(words, { env: { PARLEY_API_KEY: 'key' } });
  expect(err).toContain('by: tag');
  expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await place.output(['sessions', 'batches', '--json'])).not.toContain('import');
  await server.close();
});

test.each([
  ['no tag', ['tag', 'ses_1'], 'No tag was given'],
  ['a tag with a comma', ['tag', 'ses_1', '+a,b'], 'The tag "a,b" must hold visible characters'],
  ['a tag that is added and removed', ['tag', 'ses_1', '+a', '-a'], 'The tag "a" is also in remove.'],
])('%s is refused', async (_, words, problem) => {
  const { status, err } = await place.parley(['sessions', ...words]);
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(problem) });
});

test('a tag that no session can have is refused before a batch is made', async () => {
  const { status, err } = await place.parley(['sessions', 'tag', ...ids, '+a,b', '--yes']);
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('The field tag ') });
  expect(await place.output(['sessions', 'batches'])).toBe('');
});

test('a session that is named by its title is pinned and tagged without a question', async () => {
  const [one = ''] = ids;
  await place.parley(['sessions', 'rename', one, 'The only plan']);
  expect((await place.parley(['sessions', 'pin', 'The only'])).status).toBe(0);
  expect((await place.parley(['sessions', 'tag', one.slice(-8), '+work'])).status).toBe(0);
  expect(await session(one)).toMatchObject({ pinned: true, tags: ['work'] });
});
