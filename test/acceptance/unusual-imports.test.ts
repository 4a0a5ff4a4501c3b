// Imports of unusual files: damaged archives, names that cannot be read, a conversation that occurs twice, another working directory.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { program } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { zipArchive } from '../support/zip-archive.ts';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

/** A conversation of a Claude export. */
function conversation(id: string, texts: readonly string[]) {
  return {
    ...{ uuid: id, name: id, created_at: '2026-01-02T03:04:05Z' },
    chat_messages: texts.map((text, number) => ({
      ...{ uuid: `${id}-${number}-${text}`, sender: number % 2 === 0 ? 'human' : 'assistant', text },
      ...{ content: [], attachments: [], created_at: '2026-01-02T03:04:05Z' },
    })),
  };
}

function exportOf(...conversations: readonly unknown[]): string {
  const path = join(place.path, `${readdirSync(place.path).length}.json`);
  writeFileSync(path, JSON.stringify(conversations));
  return path;
}

const importing = (...words: readonly string[]) => place.parley(['sessions', 'import', ...words]);
const listed = async () => (await place.output(['sessions', 'list'])).split('\n').slice(0, -1);
const batchIn = (err: string) => /--batch (\S+)/.exec(err)?.[1] ?? expect.fail(err);

test('the undo of an import includes a conversation that occurs twice in it', async () => {
  const path = exportOf(conversation('a', ['one', 'two']), conversation('a', ['one', 'other']));
  const { out, err } = await importing(path);
  expect(out).toMatch(/^imported (ses_\w+)\nimported (?!\1)ses_\w+\n$/);
  await place.output(['sessions', 'restore', '--batch', batchIn(err)]);
  expect(await listed()).toEqual([]);
});

test('a text that was redacted here does not come back with the next import', async () => {
  const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD';
  const texts = [`my key is ${key}`, 'two'];
  const [id = ''] = /ses_\w+/.exec((await importing(exportOf(conversation('a', texts)))).out) ?? [];
  await place.output(['sessions', 'redact', id, '--secrets', '--yes']);
  expect((await importing(exportOf(conversation('a', texts)))).out).toBe(`unchanged ${id}\n`);
  const grown = await importing(exportOf(conversation('a', [...texts, 'three', 'four'])));
  expect(grown.out).toBe(`grown ${id}\n`);
  await place.output(['chat', '-n', '-m', 'echo', '-s', id, 'said here']);
  const forked = await importing(exportOf(conversation('a', [...texts, 'three', 'four', 'five', 'six'])));
  expect(forked.out).toMatch(/^imported ses_/);
  const [one, two] = conversation('a', texts).chat_messages;
  const branch = { ...one, uuid: 'b', sender: 'assistant', text: 'a branch', parent_message_uuid: one?.uuid };
  const tree = [{ ...one, parent_message_uuid: null }, { ...two, parent_message_uuid: one?.uuid }, branch];
  const branched = await importing(exportOf({ ...conversation('a', []), chat_messages: tree }));
  expect(branched.out).toMatch(/^imported ses_\w+\nunchanged ses_/);
  const all = await place.output(['sessions', 'export', '--all', '--format', 'json']);
  expect(all).toContain('five');
  expect(all).toContain('a branch');
  expect(all).not.toContain(key);
});

test('a conversation that occurs twice in an import is imported once', async () => {
  const path = exportOf(conversation('a', ['one', 'two']), conversation('b', ['one', 'two']));
  const longer = exportOf(conversation('a', ['one', 'two', 'three', 'four']));
  const { out, err } = await importing(path, path, longer);
  expect(out.replaceAll(/ses_\w+/g, 'ID')).toBe(
    'imported ID\nimported ID\nunchanged ID\nunchanged ID\ngrown ID\n',
  );
  await place.output(['sessions', 'restore', '--batch', batchIn(err)]);
  expect(await listed()).toEqual([]);
});

test('a cut archive fails, and so does a file of an archive whose checksum does not match', async () => {
  const path = join(place.path, 'export.zip');
  const bytes = Buffer.from(JSON.stringify([conversation('a', ['one', 'two'])]));
  const archive = zipArchive([{ name: 'conversations.json', bytes }]);
  // The checksum in the central directory.
  const directory = archive.indexOf('PK\x01\x02');
  archive.writeUInt32LE(archive.readUInt32LE(directory + 16) ^ 1, directory + 16);
  writeFileSync(path, archive);
  writeFileSync(`${path}.part`, archive.subarray(0, -30));
  expect((await importing(`${path}.part`)).err).toMatch(
    /^parley: Cannot read the archive .*[^.]\. \(INVALID_REQUEST\)$/m,
  );
  const { status, out, err } = await importing(path);
  expect(out).toContain(`failed ${path}/conversations.json INVALID_REQUEST\n`);
  expect(err).toContain('its checksum does not match');
  expect(status).toBe(2);
});

test('a file whose name is not UTF-8, or whose path is too long, fails, and the rest is imported', async () => {
  const directory = join(place.path, 'tree');
  mkdirSync(directory);
  writeFileSync(join(directory, 'whole.json'), JSON.stringify([conversation('a', ['one', 'two'])]));
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from([0xe9])]), '[]');
  // A path of 4,200 characters, which no system call takes at once.
  const step = 'd'.repeat(200);
  const deep = `for i in $(seq 21); do mkdir ${step} && cd ${step}; done; echo '[]' > a.json`;
  expect(spawnSync('sh', ['-c', deep], { cwd: directory }).status).toBe(0);
  const { status, out, err } = await importing(directory);
  // Node cannot remove so long a path.
  spawnSync('rm', ['-r', join(directory, step)]);
  expect(out).toMatch(/^failed \S+\/caf\ufffd USAGE\nimported ses_\w+\nfailed \S+d USAGE\n$/);
  expect(err).toContain('its name is not UTF-8');
  expect(status).toBe(3);
});

test('an import without any conversation says so', async () => {
  const directory = join(place.path, 'tree');
  mkdirSync(directory);
  expect((await importing(directory)).err).toContain('No conversation was found.\n');
  const inner = zipArchive([{ name: 'a', bytes: Buffer.from('[]') }]);
  const outer = join(directory, 'export.zip');
  writeFileSync(outer, zipArchive([{ name: 'inner.zip', bytes: inner }]));
  expect((await importing(directory)).err).toContain('1 archive in a directory not opened.');
  const { err } = await importing(outer);
  expect(err).toContain('1 file in an archive not opened: ');
  expect(err).toContain('extract it first');
});

test('an import is resumed from another working directory', async () => {
  const other = join(place.path, 'other');
  mkdirSync(other);
  const path = exportOf(conversation('a', ['one', 'two']));
  const { err } = await place.parley(['sessions', 'import', path.slice(place.path.length + 1)], {
    cwd: place.path,
  });
  writeFileSync(path, JSON.stringify(['a', 'b'].map((id) => conversation(id, ['one', 'two']))));
  const words = ['sessions', 'import', '--resume', batchIn(err)];
  const { out } = await place.parley(words, { cwd: other });
  expect(out).toMatch(/^unchanged ses_\w+\nimported ses_\w+\n$/);
});

test.each([
  [
    'a snapshot of files',
    '{"type":"file-history-snapshot","messageId":"m","snapshot":{},"isSnapshotUpdate":false}',
  ],
  ['a long snapshot', `{"type":"file-history-snapshot","snapshot":"${'x'.repeat(100_000)}"}`],
  ['a mode', '{"type":"permission-mode","permissionMode":"default"}'],
  ['blank lines', '\n  '],
])('a transcript of Claude Code may begin with %s', async (_name, first) => {
  const directory = join(place.path, '.claude/projects/-home');
  mkdirSync(directory, { recursive: true });
  const line = (role: string, number: number) => ({
    ...{ parentUuid: number === 0 ? null : `m${number - 1}`, isSidechain: false, type: role },
    message: { role, content: [{ type: 'text', text: `text ${number}` }] },
    ...{ uuid: `m${number}`, timestamp: '2026-01-02T03:04:05Z', sessionId: 's' },
  });
  const lines = ['user', 'assistant'].map((role, number) => JSON.stringify(line(role, number)));
  writeFileSync(join(directory, 's.jsonl'), [first, ...lines, ''].join('\n'));
  const { out } = await importing(directory, '--json');
  expect(JSON.parse(out)).toMatchObject({ status: 'imported', source: 'claude-code', source_id: 's' });
  const exported = await place.output(['sessions', 'export', '--all', '--format', 'json']);
  expect(JSON.parse(exported).messages.map(({ content }: { content: string }) => content)).toEqual([
    'text 0',
    'text 1',
  ]);
});

test.each([
  'codex/sessions/2026/11/23/rollout-2026-11-23T11-07-27-01a20816-e25b-73a1-bcfc-7e44abb1be31.jsonl',
  'claude-code/projects/-home-ann-work/0c1a64dd-864e-42db-a7db-58eeb9c51714.jsonl',
])('the lines of a transcript may have spaces, as other programs write JSON: %s', async (name) => {
  const lines = readFileSync(join('test/fixtures/imports', name), 'utf8').trim().split('\n');
  const spaced = lines.map((line) => JSON.stringify(JSON.parse(line), null, 1).replaceAll(/\n\s*/g, ' '));
  const path = join(place.path, 'copy.jsonl');
  writeFileSync(path, spaced.join('\n'));
  const [first = ''] = (await importing(path, '--json')).out.split('\n');
  expect(JSON.parse(first)).toMatchObject({ status: 'imported', source: name.split('/')[0] });
});

test('a conversation without times, in a file whose time no date can hold, is imported and listed', async () => {
  const { created_at: _, ...timeless } = conversation('a', ['one', 'two']);
  for (const message of timeless.chat_messages) Object.assign(message, { created_at: null });
  const projects = join(place.path, '.claude/projects');
  mkdirSync(projects, { recursive: true });
  const path = join(projects, 'a.jsonl');
  writeFileSync(path, JSON.stringify(timeless));
  // A file system in memory stores this time; ext4 stores its last one.
  spawnSync('touch', ['-d', '@9999999999999', path]);
  expect((await importing(path)).out).toMatch(/^imported ses_\w+\n$/);
  expect((await importing('--scan')).out).toMatch(/^claude-code\t1\t/);
});

test('a backup of a store is not taken for conversations of another program', async () => {
  const folder = join(place.path, 'backups');
  mkdirSync(folder);
  const path = join(folder, 'store.jsonl');
  await place.output(['chat', '-n', '-m', 'echo', 'Hi']);
  await place.output(['store', 'backup', path]);
  for (const words of [[path], ['--from', 'openai', path]]) {
    const refused = await importing(...words);
    expect(refused).toMatchObject({ status: 2, out: '' });
    expect(refused.err).toBe(
      `parley: The file ${path} is a backup of a store. (USAGE)\n` +
        'Nothing was imported. To make a store of it: parley store restore FILE\n',
    );
  }
  const skipped = await importing(folder);
  expect(skipped.out).toBe('');
  expect(skipped.err).toContain('1 file not recognised and skipped: ');
});

test('a database that no source recognises by its name is read as the source that is named', async () => {
  const path = join(place.path, 'copy.db');
  const database = new Database(path);
  database.exec('CREATE TABLE session (id)');
  database.close();
  const unknown = await importing(path);
  expect(unknown.err).toBe(
    `parley: The file ${path} is not recognised. (USAGE)\nNothing was imported. Use --from to name the source.\n`,
  );
  expect(unknown.status).toBe(2);
  expect((await importing('--from', 'opencode', path)).err).not.toContain('is not recognised');
});

test('of several named files, one that is no export fails alone, with its name', async () => {
  const paths = ['one.json', 'text.txt', 'none.json', 'two.json'].map((name) => join(place.path, name));
  const [one = '', text = '', none = '', two = ''] = paths;
  writeFileSync(one, JSON.stringify([conversation('a', ['one', 'two']), { chat_messages: 5 }]));
  writeFileSync(text, 'no JSON');
  writeFileSync(none, '');
  writeFileSync(two, JSON.stringify([conversation('b', ['one', 'two'])]));
  const { status, out } = await importing(...paths);
  expect(out.replaceAll(/ses_\w+/g, 'ID')).toBe(
    `imported ID\nfailed ${one}, item 2 INVALID_REQUEST\nfailed ${text} USAGE\nfailed ${none} USAGE\nimported ID\n`,
  );
  expect(status).toBe(3);
});

test('an exported session that was deleted here stays deleted', async () => {
  const path = exportOf(conversation('a', ['one', 'two']));
  await importing(path);
  const exported = join(place.path, 'exported.jsonl');
  await place.output(['sessions', 'export', '--all', '-o', exported, '--format', 'json']);
  await place.output(['sessions', 'restore', '--last', '--yes']);
  const { status, out } = await importing(exported);
  expect(out).toMatch(/^skipped ses_\w+ deleted\n$/);
  expect(status).toBe(0);
  expect(await listed()).toEqual([]);
});

test('a line of an export that is not UTF-8 fails alone', async () => {
  const texts = ['a', 'b', 'c'].map((id) => conversation(id, ['one', 'two \u00e9']));
  await importing(exportOf(...texts));
  const whole = await place.output(['sessions', 'export', '--all', '--format', 'json']);
  await place.output(['sessions', 'restore', '--last', '--yes']);
  const renamed = Buffer.from(`\ufeff${whole.replaceAll('"ses_', '"ses_x')}`);
  renamed[renamed.indexOf('\u00e9', Math.floor(renamed.length / 2))] = 0xff;
  const { status, out, err } = await place.parley(['sessions', 'import', '-'], { stdin: renamed });
  expect(out.replaceAll(/ses_\w+/g, 'ID')).toBe('imported ID\nfailed line 2 USAGE\nimported ID\n');
  expect(err).toContain('The data at line 2 is not JSON.');
  expect(status).toBe(3);
});

test('an import that cannot copy a database names TMPDIR', async () => {
  const path = join(place.path, 'logs.db');
  const database = new Database(path);
  database.exec('CREATE TABLE conversations (id, name, model); CREATE TABLE responses (id, conversation_id)');
  database.close();
  const { status, err } = await place.binary(['sessions', 'import', path], { env: { TMPDIR: '/nowhere' } });
  expect(err).toContain(
    'parley: /nowhere cannot be written (ENOENT). (CONFIG)\nSet TMPDIR to a directory that you may write to.\n',
  );
  expect(status).toBe(2);
});

test('the files of a store, whose locks a reader would drop, are not opened', async () => {
  const data = join(place.path, 'data');
  exportOf(conversation('a', ['one', 'two']));
  await place.output(['chat', '-n', '-m', 'echo', 'hi']);
  const { out, err } = await importing(place.path);
  expect(out).toMatch(/^imported ses_\w+\nskipped \S+\/data\/parley\.db store\n$/);
  expect(err).not.toMatch(/\.lock|-shm|-wal/);
  const link = join(place.path, 'link');
  symlinkSync(join(data, 'parley.db'), link);
  for (const words of [
    ['sessions', 'import', join(data, 'parley.db')],
    ['sessions', 'import', '--from', 'llm', link],
    ['chat', '-n', '-f', join(data, 'parley.db-shm'), 'hi'],
    ['store', 'verify', join(data, 'parley.db')],
  ]) {
    const refused = await place.parley(words);
    expect(refused.err).toContain('it belongs to a store of Parley. (USAGE)');
    expect(refused.status).toBe(2);
  }
});

test('a conversation whose attachments are too long names the option that leaves them out', async () => {
  const long = conversation('a', ['one', 'two']);
  Object.assign(long.chat_messages[0] ?? {}, {
    attachments: Array.from({ length: 17 }, () => ({ extracted_content: 'a'.repeat(64 * 1024) })),
  });
  const path = exportOf(long);
  const { status, out, err } = await importing(path);
  expect(out).toMatch(/^failed ses_\w+ INVALID_REQUEST\n$/);
  expect(err).toContain('--messages-only leaves out notes and the texts of attachments.\n');
  expect(err).not.toContain('To undo it');
  expect(status).toBe(2);
  expect((await importing('--messages-only', path)).out).toMatch(/^imported ses_\w+\n$/);
});

const uid = 54321;
const reads = (path: string) => spawnSync('test', ['-r', path], { uid, cwd: '/' }).status === 0;

// Root may read everything.
test.skipIf(process.getuid?.() !== 0 || !reads(program))(
  'each directory that the user may not read fails alone',
  async () => {
    const projects = join(place.path, '.claude/projects');
    for (const project of ['a', 'b', 'c']) {
      mkdirSync(join(projects, project), { recursive: true });
      writeFileSync(join(projects, project, 'it.json'), JSON.stringify([conversation(project, ['1', '2'])]));
      writeFileSync(join(projects, project, 'it.jsonl'), '');
    }
    cpSync('test/fixtures/imports/opencode-files', join(projects, 'd'), { recursive: true });
    expect(spawnSync('chown', ['-R', `${uid}:${uid}`, place.path]).status).toBe(0);
    // The names can be listed, but the files cannot be opened.
    chmodSync(join(projects, 'b'), 0o444);
    const messages = join(projects, 'd/storage/message');
    chmodSync(join(messages, readdirSync(messages)[0] ?? ''), 0);
    const run = (...words: readonly string[]) =>
      spawnSync(process.execPath, [program, 'sessions', 'import', ...words], {
        ...{ uid, gid: uid, cwd: '/', env: place.env, encoding: 'utf8' },
      });
    const { status, stdout } = run(projects);
    expect(
      stdout
        .replaceAll(/ses_\w+/g, 'ID')
        .replaceAll(`${projects}/`, '')
        .split('\n'),
    ).toEqual([
      ...['imported ID', 'failed b/it.json USAGE', 'failed b/it.jsonl USAGE', 'imported ID'],
      ...['failed d/storage/message/ID USAGE', expect.any(String), expect.any(String)],
      ...['failed d/storage/session/global/ID.json CONFIG', ''],
    ]);
    expect(status).toBe(3);
    const scanned = run('--scan', '--json');
    expect(JSON.parse(scanned.stdout).data).toMatchObject([{ source: 'claude-code', files: 2 }]);
  },
);
