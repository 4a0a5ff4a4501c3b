// Session ids on stdin: the accepted forms, and the refusal of other lines.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxIdleLines, readIds as readEachId } from '../../../src/cli/terminal/session-ids.ts';
import type { StdinReading } from '../../../src/cli/terminal/stdin.ts';
import { runs } from '../../support/runs.ts';
import { cutAt, failure, ofBytes, ofText, reading } from './stdin-reading.ts';

async function readIds(from: StdinReading): Promise<readonly string[]> {
  const ids: string[] = [];
  await readEachId(from, (id) => ids.push(id) > 0);
  return ids;
}

describe('session ids on stdin', () => {
  test('are one per line, or in a JSON object; blank lines, comments, CRLF and a byte order mark are skipped', async () => {
    const text =
      '\ufeff# all of May\r\nses_1\r\n\r\n  ses_2\t\n{"title":"x","session_id":"ses_3"}\n#ses_4\nses_5';
    const ids = await readIds(ofText(text));
    expect(ids).toEqual(['ses_1', 'ses_2', 'ses_3', 'ses_5']);
  });

  test('are read in order, also when repeated', async () => {
    expect(await readIds(ofText('b\na\nb\n{"session_id":"b"}\n'))).toEqual(['b', 'a', 'b', 'b']);
  });

  test.each([
    ['repetitions', 'a\n'],
    ['blank lines', '\n'],
    ['comments', '#\n'],
  ])('that are %s without an end are refused at a limit, with the line', async (_, line) => {
    const ids = new Set<string>();
    async function* endless() {
      for (;;) yield Buffer.from(line.repeat(10_000));
    }
    const from = { ...ofText(''), open: () => Readable.from(endless()) };
    const error = await failure(readEachId(from, (id) => ids.size !== ids.add(id).size));
    expect(error.code).toBe('USAGE');
    expect(error.message).toContain(`more than ${maxIdleLines} lines without a new session id`);
    expect(error.details).toEqual([
      { field: `line ${maxIdleLines + 1 + ids.size}`, problem: 'names no further session' },
    ]);
  });

  test('are the same for any chunks', async () => {
    const bytes = Buffer.from('\ufeffses_é\r\n{"session_id":"ses_日"}\r\n# c\nses_3');
    const property = fc.asyncProperty(fc.array(fc.nat(100), { maxLength: 6 }), async (places) => {
      const ids = await readIds(ofBytes(...cutAt(bytes, places)));
      expect(ids).toEqual(['ses_é', 'ses_日', 'ses_3']);
    });
    await fc.assert(property, { numRuns: runs(60, 1_000) });
  });

  test.each([
    ['two words', 'ses_1\nses 2\n', 2, '"ses 2"'],
    ['an object without an id', '\n\n{"id":"ses_1"}\n', 3, '"{"id":"ses_1"}"'],
    ['an object with an id that is no text', '{"session_id":7}', 1, '"{"session_id":7}"'],
    ['half an object', '{"session_id":', 1, '"{"session_id":"'],
    ['a way out of the path', 'a\n..\n', 2, '".."'],
    ['a dangerous character', 'ses_\x1b[2J', 1, '"ses_\\x1b[2J"'],
    ['a listing with its columns', 'ses_1\tTitle', 1, '"ses_1 Title"'],
    ['an id that is too long', 'x'.repeat(256), 1, `"${'x'.repeat(60)}…"`],
  ])('with %s on one line are refused with the line and its text', async (_, text, line, shown) => {
    const error = await failure(readIds(ofText(text)));
    expect(error.code).toBe('USAGE');
    expect(error.message).toBe(`Line ${line} of standard input has no session id: ${shown}.`);
    expect(error.details).toEqual([{ field: `line ${line}`, problem: 'is not a session id' }]);
    expect(error.hint).toContain('Nothing was done.');
  });

  test.each([
    [
      'a text of JSON, as jq prints it without -r',
      '"ses_1"\n',
      '"jq -r" prints ids without quotation marks.',
    ],
    ['a result', 'deleted ses_1\nfailed ses_2 NETWORK\n', `"cut -d' ' -f2" extracts the ids of results.`],
    ['a failed result', 'failed ses_2 NETWORK\n', `"cut -d' ' -f2" extracts the ids of results.`],
    ['a listing', 'ses_1\t2\tTitle\n', '"cut -f1" extracts the ids of a listing.'],
  ])('with %s are refused with the command that extracts ids', async (_, text, hint) => {
    const error = await failure(readIds(ofText(text)));
    expect(error.message).toMatch(/^Line 1 of standard input has no session id: /);
    expect(error.hint).toContain(hint);
  });

  test.each([
    ['a NUL byte', Buffer.from('\ufeffses_1\r\n\nsé😀\0_2\n'), 3, 'a NUL byte at column 4'],
    ['a NUL byte in a comment', Buffer.from('# \0\nses_1\n'), 1, 'a NUL byte at column 3'],
    [
      'a byte that is no text',
      Buffer.from([0x61, 0x0a, 0xc3, 0xa9, 0xff]),
      2,
      'the byte 0xff, which is not UTF-8, at column 2',
    ],
    [
      'half a character at the end',
      Buffer.from([0x61, 0x0a, 0x62, 0xe2, 0x82]),
      2,
      'the byte 0xe2, which is not UTF-8, at column 2',
    ],
  ])('with %s are refused with its line and column, for any chunks', async (_, bytes, line, what) => {
    for (let at = 0; at <= bytes.length; at++) {
      const error = await failure(readIds(ofBytes(bytes.subarray(0, at), bytes.subarray(at))));
      expect(error.message).toBe(`Line ${line} of standard input has ${what}.`);
      expect([error.code, error.details[0]?.field]).toEqual(['USAGE', `line ${line}`]);
    }
  });

  test('are refused with the first invalid line, although bytes that are no text follow', async () => {
    const error = await failure(readIds(ofText('ses_1\nses 2\nses_3\0\n')));
    expect(error.message).toContain('Line 2 of standard input has no session id');
  });

  test('are refused when a line never ends', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(64 * 1024, 'x'));
      },
    });
    const error = await failure(readIds(reading(() => endless)));
    const beginning = `"${'x'.repeat(60)}…"`;
    expect(error.message).toBe(`Line 1 of standard input is longer than 1048576 characters: ${beginning}.`);
    expect(endless.destroyed).toBe(true);
  });
});
