// Imports from other programs: every source gives the sessions of its reference, complete, once, and in the order of the file.
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import { type ImportFixture, importFixtures, referenceOf, toldSessions } from '../support/import-fixtures.ts';
import { writeConversations } from '../support/import-storm.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sendJson, serve } from '../support/scripted-server.ts';
import { zipArchive } from '../support/zip-archive.ts';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

interface ResultLine {
  readonly session_id: string;
  readonly status: string;
  readonly reason?: string;
  readonly source?: string;
  readonly fork_of?: string;
}

async function imported(...words: readonly string[]) {
  const { status, out, err } = await place.parley(['sessions', 'import', '--json', ...words]);
  const results: ResultLine[] = out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { status, err, results, statuses: results.map((result) => result.status) };
}

/** In the order of the results. */
async function storedRecords(results: readonly ResultLine[]): Promise<readonly SessionRecord[]> {
  const ids = results.filter(({ status }) => !['skipped', 'failed'].includes(status));
  if (ids.length === 0) return [];
  const words = ids.map(({ session_id }) => session_id);
  const out = await place.output(['sessions', 'export', '--format', 'json', ...words]);
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const named = (name: string): ImportFixture =>
  importFixtures.find((fixture) => fixture.name === name) ?? expect.fail(name);

/** A copy with a time of its own, because a source without times uses the time of its file. */
function copied({ path }: ImportFixture): string {
  const copy = join(place.path, basename(path));
  cpSync(path, copy, { recursive: true });
  const time = new Date('2026-01-02T03:04:05Z');
  const inner = statSync(copy).isDirectory() ? readdirSync(copy, { recursive: true, encoding: 'utf8' }) : [];
  for (const name of ['', ...inner]) utimesSync(join(copy, name), time, time);
  return copy;
}

describe.each(importFixtures)('$name ($origin)', (fixture) => {
  test('is recognised, gives the sessions of its reference, and nothing new the second time', async () => {
    const reference = referenceOf(fixture);
    const path = copied(fixture);
    const first = await imported(path);
    expect(first.statuses).toEqual(reference.results);
    expect(first.err).not.toContain('not recognised');
    const sources = first.results.filter(({ source }) => source !== undefined);
    expect(new Set(sources.map(({ source }) => source))).toEqual(new Set([fixture.source]));
    const records = await storedRecords(first.results);
    expect(toldSessions(records)).toEqual(reference.sessions);
    expect(new Set(records.map(({ session }) => session.mode))).toEqual(new Set([null]));
    const again = await imported('--from', fixture.source, path);
    const unchanged = reference.results.map((status) => (status === 'imported' ? 'unchanged' : status));
    expect(again.statuses).toEqual(unchanged);
    expect(again.status).toBe(reference.results.includes('failed') ? 3 : 0);
  });
});

test.each(importFixtures)('a conversation of $name is continued here in two commands', async ({ path }) => {
  const { err } = await place.parley(['sessions', 'import', path]);
  const id = /To continue it: parley chat -s (ses_\w+) "…"$/m.exec(err)?.[1] ?? expect.fail(err);
  const first = await place.parley(['chat', '-n', '-s', id, 'Where were we?']);
  expect(first).toMatchObject({ status: 0, out: expect.stringMatching(/./) });
  const note = 'This session was imported from another program. It continues in mode eliza.\n';
  expect(first.err).toBe(note);
  const another = await place.parley(['chat', '-n', '-s', id, '--fork', '-m', 'echo', 'And now?']);
  expect(another).toMatchObject({ status: 0, out: 'And now?\n' });
  const again = await place.parley(['chat', '-n', '-s', id, 'And now?']);
  expect(again).toMatchObject({ status: 0, err: '' });
});

test('an export gives the same sessions as a zip file, as a directory and from standard input', async () => {
  const { path } = named('claude');
  const zip = join(place.path, 'export.zip');
  const bytes = readFileSync(path);
  writeFileSync(
    zip,
    zipArchive([
      { name: 'conversations.json', bytes },
      { name: 'holiday.json', bytes: Buffer.from('[]') },
    ]),
  );
  const { results, err } = await imported(zip);
  expect(toldSessions(await storedRecords(results))).toEqual(referenceOf(named('claude')).sessions);
  expect(err).toContain('1 file not recognised and skipped: ');
  const folder = join(place.path, 'unpacked', 'inner');
  mkdirSync(folder, { recursive: true });
  cpSync(path, join(folder, 'conversations.json'));
  expect((await imported(join(place.path, 'unpacked'))).statuses).toEqual([
    'unchanged',
    'unchanged',
    'unchanged',
    'skipped',
  ]);
  const piped = await place.parley(['sessions', 'import', '-'], { stdin: bytes.toString() });
  expect(piped.out.match(/^unchanged /gm)).toHaveLength(3);
});

test.each([
  [
    'chatgpt',
    [
      ...['chat.html', 'user.json', 'user_settings.json', 'message_feedback.json', 'model_comparisons.json'],
      ...[
        'shared_conversations.json',
        'export_manifest.json',
        'file-1tisCp-map.png',
        'dalle-generations/a.webp',
      ],
    ],
  ],
  ['claude', ['users.json', 'projects.json', 'memories.json']],
])('the files beside the conversations of an export of %s are skipped', async (name, companions) => {
  const zip = join(place.path, 'export.zip');
  const inner = companions.map((one) => ({ name: one, bytes: Buffer.from('{"id": "1"}') }));
  const conversations = { name: 'conversations.json', bytes: readFileSync(named(name).path) };
  writeFileSync(zip, zipArchive([...inner, conversations]));
  const first = await imported(zip);
  expect(first.statuses).toEqual(referenceOf(named(name)).results);
  expect(first.err).toContain(
    `${companions.length} files without conversations skipped: "${companions[0]}", ….`,
  );
  expect(first.err).not.toMatch(/not recognised|--from/);
  const again = await imported('--from', name, zip);
  expect(again.results).toHaveLength(first.results.length);
  expect(again.err).toContain(`${companions.length} files without conversations skipped`);
});

test('conversations outside of the filters are not imported, and a dry run imports nothing', async () => {
  const { path } = named('chatgpt');
  const dry = await imported('--dry-run', '--since', '2023-01-01', path);
  expect(dry.statuses).toEqual(['would_import', 'would_import', 'skipped', 'failed']);
  expect(dry.err).not.toContain('To retry');
  expect(await place.output(['sessions', 'list'])).toBe('');
  const early = await imported('--match', 'Hello*', '--messages-only', path);
  expect(early.statuses).toEqual(['imported', 'skipped', 'failed']);
  expect(early.err).toContain('2 conversations excluded by the options.');
  // The file would fail again.
  expect(early.err).not.toContain('To retry');
  const plain = await imported('--match', 'Why*', '--messages-only', path);
  const [current] = await storedRecords(plain.results);
  expect(current?.messages.at(-1)?.content).toBe('A shore at ebb.');
});

const grownExport = (more: readonly string[]) =>
  JSON.stringify([
    {
      ...{ uuid: 'g', name: 'Growing', created_at: '2026-01-01T00:00:00Z' },
      chat_messages: ['one', 'two', ...more].map((text, index) => ({
        ...{ uuid: `g${index}`, text, sender: index % 2 === 0 ? 'human' : 'assistant' },
        created_at: `2026-01-01T00:00:0${index}Z`,
      })),
    },
  ]);

test('only a failure that may pass is followed by the advice to run the command again', async () => {
  const server = await serve(({ method }, response) => {
    const error = { code: method === 'GET' ? 'SESSION_NOT_FOUND' : 'INTERNAL_ERROR', message: 'It failed.' };
    sendJson(response, { success: false, error }, method === 'GET' ? 404 : 500);
  });
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, grownExport([]));
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'k' };
  const { err } = await place.parley(['sessions', 'import', file], { env });
  await server.close();
  expect(err).toContain('It failed. (INTERNAL_ERROR)');
  expect(err).toContain('To retry the failed sessions, run the same command again');
});

test('a conversation that has grown gets its new messages, and its title here stays', async () => {
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, grownExport([]));
  const id = (await imported(file)).results[0]?.session_id ?? '';
  await place.output(['sessions', 'rename', id, 'Mine']);
  writeFileSync(file, grownExport(['three', 'four']));
  expect((await imported('--dry-run', file)).statuses).toEqual(['would_grow']);
  const { results } = await imported(file);
  expect(results).toMatchObject([{ status: 'grown', session_id: id }]);
  const [record] = await storedRecords(results);
  expect(record?.session.title).toBe('Mine');
  expect(record?.messages.map(({ content }) => content)).toEqual(['one', 'two', 'three', 'four']);
  expect((await imported(file)).statuses).toEqual(['unchanged']);
  expect(await place.output(['sessions', 'search', 'three', '--json'])).toContain(id);
});

test('a conversation that continued here and there becomes a second session, once', async () => {
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, grownExport([]));
  const first = await imported(file);
  const id = first.results[0]?.session_id ?? '';
  await place.output(['chat', '-n', '-m', 'echo', '-s', id, 'said here']);
  expect((await imported(file)).statuses).toEqual(['unchanged']);
  writeFileSync(file, grownExport(['three', 'four']));
  const { results } = await imported(file);
  expect(results).toMatchObject([{ status: 'imported', fork_of: id }]);
  const [fork] = await storedRecords(results);
  expect(fork?.session).toMatchObject({ parent_id: id, forked_at: 1, message_count: 4 });
  expect((await imported(file)).results).toMatchObject([{ status: 'unchanged', fork_of: id }]);
  const texts = (await place.output(['sessions', 'messages', id, '--format', 'json']))
    .split('\n')
    .slice(0, -1);
  expect(texts.map((line) => JSON.parse(line).content)).toEqual(['one', 'two', 'said here', 'said here']);
});

test('an export for OpenAI is a line of messages for each session, and can be imported', async () => {
  const { results } = await imported(join(named('openai').path, 'b-lines.jsonl'));
  const [first] = results.map(({ session_id }) => session_id);
  const line = await place.output(['sessions', 'export', '--format', 'openai-jsonl', first ?? '']);
  expect(JSON.parse(line).messages).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello!' },
  ]);
  const back = await place.parley(['sessions', 'import', '-', '--from', 'openai'], { stdin: line });
  expect(back.out).toMatch(/^imported ses_/);
});

test('a line of messages with a title and a user keeps both', async () => {
  const line = JSON.stringify({ title: 'T', user: 'jane', messages: [{ role: 'user', content: 'Hi' }] });
  const back = await place.parley(['sessions', 'import', '-', '--json'], { stdin: `${line}\n` });
  const [session] = await storedRecords([JSON.parse(back.out)]);
  expect(session?.session).toMatchObject({ title: 'T', user: 'jane' });
});

test('errors about a zip archive in a directory, and about the name of a source as a path, say what to name instead', async () => {
  const folder = join(place.path, 'downloads');
  mkdirSync(folder);
  writeFileSync(join(folder, 'export.zip'), zipArchive([{ name: 'a.json', bytes: Buffer.from('[]') }]));
  const { err } = await imported(folder);
  expect(err).toMatch(
    /^No conversation was found\.\n1 archive in a directory not opened\. To import it: parley sessions import \S*\/export\.zip\n/,
  );
  expect((await imported('claude-code')).err).toContain('parley sessions import --scan');
});

test('the conversations of programs on this machine are shown before the import, and a database in use is read with its log', async () => {
  const home = join(place.path, 'home');
  const folder = join(home, '.claude', 'projects');
  cpSync(named('claude-code').path, folder, { recursive: true });
  const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  );
  const old = new Date(Math.floor(Date.now() / 1000) * 1000 - 28 * 24 * 60 * 60 * 1000);
  utimesSync(join(folder, file), old, old);
  const out = await place.parley(['sessions', 'import', '--scan', '--json'], {
    env: { HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') },
  });
  const rows: { source: string }[] = JSON.parse(out.out).data;
  expect(rows.filter(({ source }) => source === 'claude-code')).toMatchObject([
    { files: 3, expiring: 1, expires_at: new Date(old.getTime() + 30 * 24 * 60 * 60 * 1000).toISOString() },
  ]);
  const inWords = await place.parley(['sessions', 'import', '--scan'], { env: { HOME: home } });
  expect(inWords.err).toBe(`To import them: parley sessions import ${folder}\n`);
  const screen = place.screen(['sessions', 'import', '--scan'], {
    ...{ columns: 80, env: { HOME: home, CLAUDE_CONFIG_DIR: undefined, TZ: 'UTC' } },
  });
  await screen.ended;
  expect(screen.text).toMatch(
    /^SOURCE +FILES .*NEWEST +NEXT DELETED +.*PATH\nclaude-code +3 .* {2}now +\d{4}-\d\d-\d\d \d\d:\d\d +1 +~\/\.claude\/projects\nTo import them: parley sessions import ~\/\.claude\/projects$/,
  );
  screen.close();
  const path = join(place.path, 'logs.db');
  cpSync(named('llm').path, path);
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.exec(
    `INSERT INTO responses (id, model, prompt, response, datetime_utc) VALUES ('live', 'm', 'now', 'yes', '2026-01-01T00:00:00')`,
  );
  const before = readFileSync(path);
  expect((await imported(path)).statuses).toEqual(['imported', 'imported', 'imported']);
  expect(readFileSync(path).equals(before)).toBe(true);
  database.close();
});

test('chats of Gemini CLI that it will delete, and sessions of agents of aichat, are shown', async () => {
  const home = join(place.path, 'agents');
  const chats = join(home, '.gemini', 'tmp', 'work', 'chats');
  cpSync(named('gemini-cli').path, chats, { recursive: true });
  const old = new Date(Date.now() - 28 * 24 * 60 * 60 * 1000);
  for (const name of readdirSync(chats)) utimesSync(join(chats, name), old, old);
  for (const path of ['sessions', 'agents/coder/sessions']) {
    const directory = join(home, '.config', 'aichat', path);
    cpSync(named('aichat').path, directory, { recursive: true });
  }
  const env = { HOME: home };
  const { out } = await place.parley(['sessions', 'import', '--scan', '--json'], { env });
  const rows: { source: string; files: number; expiring: number }[] = JSON.parse(out).data;
  expect(rows.map(({ source, files, expiring }) => [source, files, expiring])).toEqual([
    ['gemini-cli', 2, 2],
    ['aichat', 1, 0],
    ['aichat', 1, 0],
  ]);
  const { statuses } = await imported(join(home, '.config', 'aichat'));
  expect(statuses).toEqual(['imported', 'imported']);
});

test('the directories of macOS and Windows are looked through as well', async () => {
  const home = join(place.path, 'mac');
  const config = join(home, 'Library', 'Application Support');
  mkdirSync(join(config, 'io.datasette.llm'), { recursive: true });
  cpSync(named('llm').path, join(config, 'io.datasette.llm', 'logs.db'));
  mkdirSync(join(home, 'Roaming', 'aichat', 'sessions'), { recursive: true });
  writeFileSync(join(home, 'Roaming', 'aichat', 'sessions', 'a.yaml'), 'model: m\nmessages: []\n');
  const env = { HOME: home, APPDATA: join(home, 'Roaming') };
  const { out, err } = await place.parley(['sessions', 'import', '--scan'], { env });
  expect(out.split('\n').map((line) => line.split('\t')[0])).toEqual(['llm', 'aichat', '']);
  expect(err).toContain(`'${join(config, 'io.datasette.llm', 'logs.db')}'`);
});

test('the last batch is not undone without a question if it is an import', async () => {
  await imported(named('claude').path);
  const { status, err } = await place.parley(['sessions', 'restore', '--last']);
  expect(status).toBe(2);
  expect(err).toMatch(
    /^Batch \S+ \(.*\) imported \d+ sessions?\.\nparley: Delete the sessions that this import created\? /,
  );
  expect(err).toContain('--yes');
  expect(await place.output(['sessions', 'list', '--ids'])).not.toBe('');
  await place.output(['sessions', 'restore', '--last', '--yes']);
});

test('an import is undone by its batch: the sessions that it created are deleted, and no others', async () => {
  const own = (await place.output(['sessions', 'create', '--title', 'own'])).trim();
  const { err } = await imported(named('claude').path);
  const [, command = ''] = /To undo it: parley (.*)\n/.exec(err) ?? [];
  const [row] = JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
  expect(row).toMatchObject({ kind: 'import', imported: 3, restored: null });
  expect(await place.output(command.split(' '))).toMatch(/^(deleted ses_\w+\n){3}$/);
  expect(await place.output(['sessions', 'list', '--ids'])).toBe(`${own}\n`);
  const [undone] = JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
  expect(undone.restored).toMatchObject({ sessions: 3 });
  // A session that was deleted here is not imported again, and no batch counts it as created.
  const again = await imported(named('claude').path);
  expect(again.results.filter(({ reason }) => reason === 'deleted')).toHaveLength(3);
  const rows = JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
  const counts = rows.map((one: { imported: number }) => one.imported);
  expect(counts.toSorted()).toEqual([0, 3]);
});

test('a session that the archive refuses counts in no batch', async () => {
  const session = {
    title: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  };
  const lines = [
    { session_id: 'ses_good', message_count: 0 },
    { session_id: 'ses_bad', message_count: 7 },
  ].map((own) => JSON.stringify({ session: { ...session, ...own }, messages: [] }));
  const { out } = await place.parley(['sessions', 'import', '-'], { stdin: `${lines.join('\n')}\n` });
  expect(out).toBe('imported ses_good\nfailed ses_bad INVALID_REQUEST\n');
  const [row] = JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
  expect(row.imported).toBe(1);
});

test('an import is resumed by its name, and then takes no path', async () => {
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, grownExport([]));
  await imported(file);
  const [{ batch }] = JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
  expect((await imported('--resume', batch)).statuses).toEqual(['unchanged']);
  for (const word of [file, '--messages-only', '--since=1d', '--tag=a'])
    expect((await place.parley(['sessions', 'import', '--resume', batch, word])).status).toBe(2);
  expect((await place.parley(['sessions', 'import', '--resume', 'none'])).err).toContain(
    'There is no import',
  );
});

test('hostile archives and directories are refused with their place, and the rest is imported', async () => {
  const bytes = readFileSync(named('claude').path);
  const zip = join(place.path, 'hostile.zip');
  writeFileSync(
    zip,
    zipArchive([
      { name: '../conversations.json', bytes },
      { name: '/etc/conversations.json', bytes },
      { name: 'bomb/conversations.json', bytes: Buffer.alloc(32 * 1024 * 1024, ' ') },
      { name: 'good/conversations.json', bytes },
      { name: 'many/1.json', bytes: Buffer.alloc(16 * 1024 * 1024, ' ') },
      { name: 'many/2.json', bytes: Buffer.alloc(16 * 1024 * 1024, ' ') },
    ]),
  );
  const { results, status, err } = await imported(zip);
  expect(results.map((result) => [result.status, basename(result.session_id)]).slice(0, 3)).toEqual([
    ['failed', 'conversations.json'],
    ['failed', 'conversations.json'],
    ['failed', 'conversations.json'],
  ]);
  expect(results.slice(3).map((result) => result.status)).toEqual([
    'imported',
    'imported',
    'imported',
    'skipped',
    'failed',
    'failed',
  ]);
  expect(status).toBe(3);
  const together = 'many/2.json makes the contents too large';
  for (const why of ['leads out of the archive', '33554432 bytes, compressed to', together])
    expect(err).toContain(why);
  const folder = join(place.path, 'folder');
  mkdirSync(folder);
  symlinkSync(named('chatgpt').path, join(folder, 'link.json'));
  symlinkSync('/', join(folder, 'root'));
  const linked = await imported(folder);
  expect(linked.results).toEqual([]);
  expect(linked.err).toContain('2 links not followed.');
});

test('a name in an archive or in a conversation adds no line to the results', async () => {
  const zip = join(place.path, 'named.zip');
  const conversation = { conversation_id: 'c\r\nimported ses_forged', title: 't', mapping: {} };
  writeFileSync(
    zip,
    zipArchive([
      { name: '../a\nimported ses_forged', bytes: Buffer.from('[]') },
      { name: 'conversations.json', bytes: Buffer.from(JSON.stringify([conversation])) },
    ]),
  );
  const { out, err } = await place.parley(['sessions', 'import', zip, '--from', 'chatgpt', '--verbose']);
  expect(out.match(/^\w+/gm)).toEqual(['failed', 'skipped']);
  expect(err).toMatch(/^At \S+ imported ses_forged:$/m);
});

test('of many failures all have a line, and the first have a reason; with --verbose all have', async () => {
  const file = join(place.path, 'many.json');
  writeFileSync(file, '{"session":{"session_id":"ses_1"}}\n'.repeat(30));
  const words = ['sessions', 'import', '--from', 'parley', file];
  const reasons = ({ err }: { readonly err: string }) => err.match(/^At line \d+:$/gm)?.length;
  const short = await place.parley(words);
  expect(short.out).toBe('failed ses_1 INVALID_REQUEST\n'.repeat(30));
  expect(reasons(short)).toBe(20);
  expect(short.err).toContain('10 more failures not explained; --verbose explains all.\n');
  const whole = await place.parley([...words, '--verbose']);
  expect(reasons(whole)).toBe(30);
  expect(whole.err).not.toContain('not explained');
});

test('a file that is one session is named by its path, alone or with others', async () => {
  const folder = named('claude-code').path;
  const file = join(folder, '-home-ann-work/agent-1.jsonl');
  for (const words of [[file], [folder], [file, named('claude').path]]) {
    const { results } = await imported(...words);
    expect(results.find(({ reason }) => reason === 'subagent')?.session_id).toBe(file);
  }
});

test('a cut file gives the conversations before the cut, and a source is never written to', async () => {
  const { path } = named('claude');
  const text = readFileSync(path, 'utf8');
  const file = join(place.path, 'conversations.json');
  writeFileSync(file, text.slice(0, text.indexOf('Text alone')));
  const before = statSync(file).mtimeMs;
  const { results, err } = await imported(file);
  expect(results.map(({ status }) => status)).toEqual(['imported', 'imported', 'failed']);
  expect(err).toContain('At item 2:');
  expect(err).toContain('the file ends in the middle of it');
  expect(statSync(file).mtimeMs).toBe(before);
  appendFileSync(file, text.slice(text.indexOf('Text alone')));
  expect((await imported(file)).statuses).toEqual(['unchanged', 'unchanged', 'imported', 'skipped']);
});

test('a large export, which a thread reads, gives the same as the same export from a pipe', async () => {
  const file = join(place.path, 'conversations.json');
  writeConversations(file, 1000, ' word'.repeat(180));
  expect(statSync(file).size).toBeGreaterThan(8 * 1024 * 1024);
  const words = ['sessions', 'import', '--dry-run', '--json'];
  const read = await place.binary([...words, file]);
  const piped = await place.binary([...words, '-'], { stdin: readFileSync(file) });
  expect([read.status, read.out]).toEqual([0, piped.out]);
  expect(read.out.split('\n').length).toBe(1201);
});
