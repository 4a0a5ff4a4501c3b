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
