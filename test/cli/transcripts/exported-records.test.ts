// Lines that are too long are skipped with an error, and the others are read.
import { expect, test } from 'vitest';
import { readRecords } from '../../../src/cli/transcripts/exported-records.ts';

const limit = 50;

/** In chunks of this many characters. */
async function* inPieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function read(text: string, size: number) {
  const found = [];
  for await (const record of readRecords(inPieces(text, size), 'The file', limit)) found.push(record);
  return found;
}

const whole = (line: number, value: unknown) => ({ place: `line ${line}`, value, isTooLong: false });
const tooLong = (line: number) => ({ place: `line ${line}`, value: undefined, isTooLong: true });
const long = JSON.stringify({ a: 'x'.repeat(500) });

test.each([1, 7, 20])(
  'a line over the limit is reported with its place, first, between and last (chunks of %i)',
  async (size) => {
    expect(await read(`${long}\n{"a":1}\n\n${long}\n{"a":2}\n${long}`, size)).toEqual([
      tooLong(1),
      whole(2, { a: 1 }),
      tooLong(4),
      whole(5, { a: 2 }),
      tooLong(6),
    ]);
  },
);

test('a text over the limit without lines is refused with the limit, before it is read completely', async () => {
  const reading = read(`[\n${'  {"a":1},\n'.repeat(20)}]`, 7);
  await expect(reading).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
    message: expect.stringContaining(' 50 '),
  });
});
