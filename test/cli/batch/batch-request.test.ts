// The lines of a batch: how they are read, and which are refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LineRules, maxLineBytes, readItem } from '../../../src/cli/batch/batch-request.ts';
import { byteLines } from '../../../src/cli/terminal/byte-lines.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import { runs } from '../../support/runs.ts';
import { cutAt } from '../terminal/stdin-reading.ts';

const rules: LineRules = { messageBytes: 100, schemaBytes: 40, inSession: false };

function read(line: string | Uint8Array, more: Partial<LineRules> = {}) {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  return readItem({ number: 7, bytes, end: bytes.length, isClosed: true }, { ...rules, ...more });
}

function fault(line: string | Uint8Array, more: Partial<LineRules> = {}): ParleyError {
  const request = read(line, more)?.request;
  if (request instanceof ParleyError) return request;
  throw new Error(`accepted: ${line}`);
}

describe('a line of a batch', () => {
  test('is a message if it is no JSON object, with its number as id', () => {
    expect(read(' "a" [b] ')).toMatchObject({
      id: 7,
      request: { message: ' "a" [b] ', mode: null, session_id: null, title: null },
    });
  });

  test('may be an object with all of its fields', () => {
    const line = '{"message":"m","id":"x","mode":"echo","session_id":"ses_1"}';
    expect(read(line)).toMatchObject({
      id: 'x',
      request: { message: 'm', mode: 'echo', session_id: 'ses_1', title: null },
    });
    expect(read('  {"message":"m","id":0,"title":"t"}')).toMatchObject({ id: 0, request: { title: 't' } });
  });

  test('may name the schema of its reply, with all digits of its numbers, or none', () => {
    const schema = '{"maximum":9007199254740993}';
    expect(read(`{"message":"m","schema":${schema}}`)).toMatchObject({ request: { schema } });
    expect(read('{"message":"m","schema":true}')).toMatchObject({ request: { schema: 'true' } });
    expect(read('{"message":"m","schema":null}')).toMatchObject({ request: { schema: null } });
    expect(read('{"message":"m"}')).toMatchObject({ request: { schema: undefined } });
    const long = fault(`{"message":"m","schema":{"title":"${'t'.repeat(40)}"}}`);
    expect(long).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'Line 7 has a schema of 52 bytes; the limit is 40.',
    });
  });

  test.each(['', '   ', '\t', '\r'])('that is blank (%j) is no request', (line) => {
    expect(read(line)).toBe(null);
  });

  test.each([
    ['that is no JSON', '{"message":', 'Line 7 starts with { but is not JSON'],
    ['with an unknown field', '{"message":"m","foo":1}', 'the fields are message, id, mode'],
    ['without a message', '{"id":"a"}', 'the field message is missing'],
    ['with a message of another type', '{"message":["m"]}', 'message must be a string, not an array'],
    ['with null', '{"message":"m","session_id":null}', 'session_id must be a string, not null'],
    ['with an id of another type', '{"message":"m","id":true}', 'id must be a whole number or a string'],
    ['with half a number for an id', '{"message":"m","id":1.5}', 'id must be a whole number'],
    [
      'with a schema of another type',
      '{"message":"m","schema":"a.json"}',
      'schema must be a JSON Schema, not of',
    ],
    [
      'with parameters that are nested too deep for any further step',
      `{"message":"m","parameters":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      'the field parameters is nested more than 32 levels deep',
    ],
    ['with a list as schema', '{"message":"m","schema":[]}', 'schema must be a JSON Schema, not an array'],
    ['with a name twice', '{"message":"m","schema":{"type":"a","type":"b"}}', 'schema/type'],
    ['with an empty id', '{"message":"m","id":""}', 'id must be'],
    ['with a blank message', '{"message":" \\n"}', 'message is empty or only whitespace'],
    ['with NUL', '{"message":"a\\u0000"}', 'contains a NUL character at position 1'],
    ['with half a surrogate pair', '{"message":"\\ud800"}', 'half of a surrogate pair'],
    ['with no session id', '{"message":"m","session_id":".."}', 'is not a session id'],
    [
      'with title and session',
      '{"message":"m","session_id":"s","title":"t"}',
      'cannot be combined with session_id',
    ],
    ['with an empty mode', '{"message":"m","mode":""}', 'mode is empty'],
  ])('%s is refused with its number and field', (_fact, line, problem) => {
    const error = fault(line);
    expect(error.code).toBe('INVALID_REQUEST');
    expect(error.message).toContain('Line 7');
    expect(error.message).toContain(problem);
  });

  test('keeps its id when another field of it is refused', () => {
    expect(read('{"foo":1,"id":"x"}')?.id).toBe('x');
  });

  test.each([
    [
      'a byte that is none',
      Buffer.from([0x61, 0xff]),
      'Line 7 has the byte 0xff, which is not UTF-8, at offset 1',
    ],
    [
      'a cut character',
      Buffer.from([0x61, 0xe2, 0x82]),
      'Line 7 has the byte 0xe2, which is not UTF-8, at offset 1',
    ],
    ['NUL', Buffer.from('ab\0'), 'Line 7 has a NUL byte at offset 2'],
  ])('with %s is refused with its place', (_fact, line, problem) => {
    expect(fault(line).message).toContain(problem);
  });

  test('is measured in bytes of its message, not of its JSON', () => {
    const escaped = JSON.stringify('é'.repeat(50)).replaceAll('é', '\\u00e9');
    expect(read(`{"message":${escaped}}`)?.request).not.toBeInstanceOf(ParleyError);
    const error = fault(JSON.stringify({ message: 'é'.repeat(50).concat('a') }));
    expect([error.code, error.message]).toEqual([
      'PAYLOAD_TOO_LARGE',
      'Line 7 has a message of 101 bytes; the limit is 100.',
    ]);
  });

  test('names neither session nor title where all lines share a session', () => {
    for (const line of ['{"message":"m","session_id":"s"}', '{"message":"m","title":"t"}'])
      expect(fault(line, { inSession: true }).message).toContain('with --in-session');
  });
});

async function lines(pieces: readonly Uint8Array[], limit: number) {
  async function* source() {
    yield* pieces;
  }
  const found: (string | null)[] = [];
  const ends: number[] = [];
  for await (const { bytes, end } of byteLines(source(), limit)) {
    found.push(bytes === null ? null : Buffer.from(bytes).toString());
    ends.push(end);
  }
  return { found, ends };
}

describe('lines of bytes', () => {
  test('are the same for any chunks', async () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 8 })
      .map((text) => text.replaceAll(/[\r\n\ufeff]/g, ''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom('', '\ufeff'),
        async (texts, places, lineEnd, mark) => {
          const bytes = Buffer.from(`${mark}${texts.map((text) => text + lineEnd).join('')}`);
          const { found, ends } = await lines(cutAt(bytes, places), 1000);
          expect(found).toEqual(texts);
          expect(ends.at(-1)).toBe(bytes.length);
        },
      ),
      { numRuns: runs(150, 2_500) },
    );
  });

  test('without a last line end include their last line', async () => {
    expect((await lines([Buffer.from('a\nb')], 10)).found).toEqual(['a', 'b']);
    expect((await lines([Buffer.from('a\n')], 10)).found).toEqual(['a']);
    expect((await lines([], 10)).found).toEqual([]);
  });

  test('over the limit are reported and skipped, and the next line is read', async () => {
    expect((await lines([Buffer.from('12345\n123'), Buffer.from('456\n1\n')], 5)).found).toEqual([
      '12345',
      null,
      '1',
    ]);
  });

  test('have room for a message in which every byte is escaped', () => {
    const message = '\u0001'.repeat(100);
    expect(JSON.stringify({ message }).length).toBeLessThan(maxLineBytes(rules));
  });
});
