// The limits of an import, with real files: what exceeds a limit is refused with its place, and the rest is imported.
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jsonLines } from '../../../src/cli/imports/json-lines.ts';
import { SessionSize } from '../../../src/cli/imports/session-size.ts';
import type { FoundFile } from '../../../src/cli/imports/source.ts';
import { filesAt } from '../../../src/cli/imports/source-files.ts';
import { PlaceInProcess } from '../../support/place-in-process.ts';
import { zipArchive } from '../../support/zip-archive.ts';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

async function imported(path: string) {
  const { status, out, err } = await place.parley(['sessions', 'import', '--json', path]);
  const results: { status: string; session_id: string }[] = out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { status, err, statuses: results.map((result) => result.status) };
}

const conversation = (id: string, more: object = {}) => ({
  ...{ conversation_id: id, title: id, current_node: 'a', ...more },
  mapping: {
    u: {
      id: 'u',
      parent: null,
      children: ['a'],
      message: { author: { role: 'user' }, content: { parts: ['Hi'] } },
    },
    a: {
      id: 'a',
      parent: 'u',
      children: [],
      message: { author: { role: 'assistant' }, content: { parts: ['Yes'] } },
    },
  },
});

const session = '0c1a64dd-864e-42db-a7db-58eeb9c51714';
const line = (uuid: string, parentUuid: string | null, content: unknown) => {
  const type = parentUuid === null ? 'user' : 'assistant';
  const message = { role: type, content };
  return `${JSON.stringify({ parentUuid, sessionId: session, type, message, uuid, timestamp: '2026-01-01T00:00:00Z' })}\n`;
};

/** A file with a hole of NULs between two texts, which takes no space on the disk. */
function fileWithHole(path: string, before: string, bytes: number, after: string): void {
  const file = openSync(path, 'w');
  writeSync(file, before);
  ftruncateSync(file, before.length + bytes);
  writeSync(file, after, before.length + bytes);
  closeSync(file);
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('a line of 100 MB in a transcript, and a conversation of 100 MB in an export, fail alone', async () => {
  const lines = join(place.path, `${session}.jsonl`);
  const question = line('u', null, 'Hi');
  fileWithHole(lines, question, 100_000_000, `\n${line('a', 'u', [{ type: 'text', text: 'Yes' }])}`);
  const first = await imported(lines);
  expect(first.statuses).toEqual(['failed', 'imported']);
  expect(first.err).toContain('At line 2:');
  expect(first.err).toContain('has more than 67108864 bytes, the limit of a line');
  const whole = join(place.path, 'conversations.json');
  const [before, after] = [JSON.stringify(conversation('one')), JSON.stringify(conversation('three'))];
  fileWithHole(whole, `[${before},{"mapping":{},"x":"`, 100_000_000, `"},${after}]`);
  const second = await imported(whole);
  expect(second.statuses).toEqual(['imported', 'failed', 'imported']);
  expect(second.err).toContain('At item 2:');
  expect(second.err).toContain('has more than 67108864 bytes, the limit of a conversation');
});

test('values that are nested too deep fail with their place, in an array and in lines', async () => {
  const whole = join(place.path, 'conversations.json');
  const bad = `${JSON.stringify(conversation('bad')).slice(0, -1)},"deep":${deep(100_000)}}`;
  writeFileSync(whole, `[${bad},${JSON.stringify(conversation('good'))}]`);
  const first = await imported(whole);
  expect(first.statuses).toEqual(['failed', 'imported']);
  expect(first.err).toContain('At item 1:');
  const lines = join(place.path, `${session}.jsonl`);
  const call = line('a', 'u', [{ type: 'tool_use', name: 'x', input: 0 }]).replace(
    '"input":0',
    `"input":${deep(100_000)}`,
  );
  writeFileSync(lines, line('u', null, 'Hi') + call + line('b', 'u', [{ type: 'text', text: 'Yes' }]));
  const second = await imported(lines);
  expect(second.statuses).toEqual(['failed', 'imported']);
  expect(second.err).toMatch(/At line 2:\n.*nested deeper than 1000/);
});

test('a transcript whose lines are more in all than a session may have is refused', async () => {
  async function* chunks() {
    for (let count = 0; count < 5; count += 1) yield Buffer.from(`{"number":${count}}\n`);
  }
  const read: unknown[] = [];
  const reading = async () => {
    for await (const { value } of jsonLines(chunks(), new SessionSize('long.jsonl', 30))) read.push(value);
  };
  await expect(reading()).rejects.toThrow('long.jsonl has more than 30 bytes, the limit of a session.');
  expect(read).toEqual([{ number: 0 }, { number: 1 }]);
});

test('a conversation of 20,000 messages without a model is imported in a time that grows with its length', async () => {
  const messages = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ uuid: `m${index}`, sender: index % 2 === 0 ? 'human' : 'assistant', text: 'x' },
  }));
  const path = join(place.path, 'conversations.json');
  writeFileSync(path, JSON.stringify([{ uuid: 'long', name: 'Long', chat_messages: messages }]));
  const dry = await place.parley(['sessions', 'import', '--dry-run', path]);
  expect(dry.out).toMatch(/^would_import /);
});

test('too many files, and directories that lie too deep, are named, and the files before are read', async () => {
  const folder = join(place.path, 'many');
  mkdirSync(folder);
  for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(join(folder, name), '');
  const found: FoundFile[] = [];
  for await (const one of filesAt(folder, 3)) found.push(one);
  expect(
    found.map((one) => ('file' in one ? one.file.path : 'failure' in one ? one.failure.message : '')),
  ).toEqual([
    join(folder, 'a'),
    join(folder, 'b'),
    join(folder, 'c'),
    `${join(folder, 'd')} exceeds the limit of 3 files.`,
  ]);
  const nested = join(place.path, 'nested');
  const deepest = join(nested, ...Array.from({ length: 34 }, () => 'd'));
  mkdirSync(deepest, { recursive: true });
  writeFileSync(join(nested, 'conversations.json'), JSON.stringify([conversation('top')]));
  cpSync(join(nested, 'conversations.json'), join(deepest, 'conversations.json'));
  const { statuses, err } = await imported(nested);
  expect(statuses).toEqual(['imported', 'failed']);
  expect(err).toContain('is nested deeper than 32 directories');
});

test('a link that leads out of a tree of opencode is not followed, be it a file or a directory', async () => {
  const storage = join(place.path, 'storage');
  const outside = join(place.path, 'outside');
  const write = (path: string, value: object) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, JSON.stringify(value));
  };
  const time = { created: 1_760_000_000_000 };
  write(join(storage, 'session/global/ses_a.json'), { title: 'Linked', time });
  write(join(storage, 'message/ses_a/msg_a.json'), { role: 'user', time });
  write(join(storage, 'part/msg_a/prt_a.json'), { type: 'text', text: 'Mine' });
  write(join(outside, 'prt_b.json'), { type: 'text', text: 'Not mine' });
  symlinkSync(join(outside, 'prt_b.json'), join(storage, 'part/msg_a/prt_b.json'));
  write(join(storage, 'message/ses_a/msg_b.json'), { role: 'assistant', time });
  symlinkSync(outside, join(storage, 'part/msg_b'));
  expect((await imported(storage)).statuses).toEqual(['imported']);
  const out = await place.output(['sessions', 'export', '--all', '--format', 'json']);
  expect(JSON.parse(out).messages.map(({ content }: { content: string }) => content)).toEqual(['Mine']);
});

test('an archive that says it holds millions of files is refused, and the other paths are read', async () => {
  const zip = join(place.path, 'many.zip');
  const plain = zipArchive([{ name: 'conversations.json', bytes: Buffer.from('[]') }]);
  // The 64-bit end of the directory, which the usual end points to with a count of 65,535.
  const end = Buffer.from(plain.subarray(plain.length - 22));
  const start = plain.length - 22;
  const long = Buffer.alloc(56);
  long.write('PK\x06\x06', 'latin1');
  long.writeBigUInt64LE(44n, 4);
  long.writeBigUInt64LE(2_000_000n, 24);
  long.writeBigUInt64LE(2_000_000n, 32);
  long.writeBigUInt64LE(BigInt(end.readUInt32LE(12)), 40);
  long.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(BigInt(start), 8);
  locator.writeUInt32LE(1, 16);
  end.writeUInt16LE(0xffff, 8);
  end.writeUInt16LE(0xffff, 10);
  writeFileSync(zip, Buffer.concat([plain.subarray(0, start), long, locator, end]));
  const good = join(place.path, 'conversations.json');
  writeFileSync(good, JSON.stringify([conversation('good')]));
  const { out, err } = await place.parley(['sessions', 'import', zip, good]);
  expect(out.split('\n').map((one) => one.split(' ')[0])).toEqual(['failed', 'imported', '']);
  expect(err).toContain('contains more than 1000000 files');
});

test('a damaged session of aichat is read without a warning of Node, and in a time that grows with its length', async () => {
  const path = join(place.path, 'damaged.yaml');
  const keys = Array.from({ length: 20_000 }, (_, number) => `k${number}: 1`).join('\n');
  const text = `model: !own m\nmessages:\n- role: user\n  content: !odel Hi\n${keys}\n`;
  writeFileSync(path, text);
  const { status, err } = await place.binary(['sessions', 'import', '--from', 'aichat', path]);
  expect([status, err.includes('Warning')]).toEqual([0, false]);
});

test('a conversation without times in an archive whose file has a time after the year 9999 gets the time of the import', async () => {
  const extra = Buffer.alloc(36);
  // The times of NTFS: the kind of the field and its size, four reserved bytes, a tag and its size, and the time in 100 ns since 1601.
  for (const [at, value] of [0x0a, 32, 0, 0, 1, 24].entries()) extra.writeUInt16LE(value, 2 * at);
  extra.writeBigInt64LE(10_000n * 365n * 86_400n * 10_000_000n, 12);
  const bytes = Buffer.from(JSON.stringify([conversation('c1')]));
  const zip = join(place.path, 'far.zip');
  writeFileSync(zip, zipArchive([{ name: 'conversations.json', bytes, extra }]));
  expect((await imported(zip)).statuses).toEqual(['imported']);
  const { out } = await place.parley(['sessions', 'list', '--json']);
  expect(JSON.parse(out).data.items[0].created_at).toMatch(/^20\d\d-/);
});
