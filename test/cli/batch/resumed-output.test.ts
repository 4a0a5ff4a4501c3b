// The output file of an earlier run: which files are accepted, and that no other file is changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readResumedOutput } from '../../../src/cli/batch/resumed-output.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

function fileWith(content: string | Uint8Array): string {
  const directory = temporaryDirectory();
  const path = join(directory, 'out.jsonl');
  writeFileSync(path, content);
  return path;
}

async function resume(path: string): Promise<void> {
  const output = await readResumedOutput(path);
  const file = await output.open(() => {});
  await file.close();
}

const result = '{"id":1,"success":true,"data":{"session_id":"ses_1"}}';

it.each([
  ['a note of one line', 'my only notes'],
  ['a JSON text of one line', '{"name":"parley","version":1}'],
  ['bytes that are no text', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff)],
  ['a text behind a result', `${result}\nmy only notes`],
])('%s without a line end is refused and not changed', async (_what, content) => {
  const path = fileWith(content);
  await expect(readResumedOutput(path)).rejects.toMatchObject({ code: 'USAGE' });
  expect(readFileSync(path)).toEqual(Buffer.from(content));
});

const reply = (id: number, size = 600) =>
  `{"id":${id},"success":true,"data":{"reply":"${'x'.repeat(size)}"}}\n`;
const replies = [1, 2, 3, 4].map((id) => reply(id)).join('');

it.each([
  ['the end', false, replies.length - 100, replies.length, [1, 2, 3]],
  ['the end with whole lines', false, reply(1).length * 2, replies.length, [1, 2]],
  ['a sector within a line', false, 0, 512, [2, 3, 4]],
  ['a sector with the end of a line', false, 512, 1024, [3, 4]],
  ['the first line', false, 0, reply(1).length, [3, 4]],
  ['two sectors apart', true, 512, 1024, [3]],
  ['everything', false, 0, replies.length, []],
])('a resumed batch drops the lines of which a power cut lost %s', async (_what, losesTwo, from, to, ids) => {
  const content = Buffer.from(replies);
  content.fill(0, from, to);
  if (losesTwo) content.fill(0, 2048, 2560);
  const path = fileWith(content);
  const output = await readResumedOutput(path);
  expect([...output.answered]).toEqual(ids);
  await resume(path);
  expect(readFileSync(path, 'utf8')).toBe(ids.map((id) => reply(id)).join(''));
});

it.each([
  ['begins with a few NULs', Buffer.from('\0\0\0\x18ftypmp42')],
  ['has a note behind a sector of NULs', Buffer.concat([Buffer.alloc(512), Buffer.from('my notes\n')])],
  ['has NULs that end within a sector', Buffer.from(`${result.slice(0, 20)}\0\0${result.slice(22)}\n`)],
  ['begins as a note', Buffer.concat([Buffer.from('my notes'), Buffer.alloc(504)])],
])('a file that %s is refused and not changed', async (_what, content) => {
  const path = fileWith(content);
  await expect(readResumedOutput(path)).rejects.toMatchObject({ code: 'USAGE' });
  expect(readFileSync(path)).toEqual(content);
});

it.each(['{', '{"id"', '{"id":2,"success":tr', '{"id":"ä'.slice(0, 8)])(
  'a last line that a kill has cut to %j is removed',
  async (half) => {
    const path = fileWith(`${result}\n${half}`);
    await resume(path);
    expect(readFileSync(path, 'utf8')).toBe(`${result}\n`);
  },
);

it('a complete last line without its line end gets one', async () => {
  const path = fileWith(result);
  await resume(path);
  expect(readFileSync(path, 'utf8')).toBe(`${result}\n`);
});
