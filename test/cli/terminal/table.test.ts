// Tables: tabs in a pipe, columns on a terminal.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { align, type Column, writeTable } from '../../../src/cli/terminal/table.ts';
import { runs } from '../../support/runs.ts';
import { stringStream } from './string-stream.ts';

type Row = readonly [id: string, title: string];

const columns: readonly Column<Row>[] = [
  { title: 'ID', value: ([id]) => id },
  { title: 'TITLE', value: ([, title]) => title, flexible: true },
];

async function written(
  rows: readonly Row[],
  terminal: { readonly columns: number } | null,
  shown = columns,
): Promise<string> {
  const { stream, text } = stringStream(terminal === null ? {} : { isTTY: true, ...terminal });
  await writeTable(
    createOutput(stream, {
      role: 'data',
      env: { TERM: 'xterm' },
      noColor: true,
      signal: new AbortController().signal,
    }),
    shown,
    rows,
  );
  return text();
}

describe('a table in a pipe', () => {
  test('has tabs between its cells, no titles, and exact text except for tabs and newlines', async () => {
    const rows: readonly Row[] = [
      ['ses_1', 'a\tb\r\nc\nd\x1b[2J'],
      ['ses_22', 'x'.repeat(300)],
    ];
    expect(await written(rows, null)).toBe(`ses_1\ta b c d\x1b[2J\nses_22\t${'x'.repeat(300)}\n`);
  });
});

describe('a table on a terminal', () => {
  test.each([
    'a\u0301'.padEnd(5000, '\u0301'),
    '\u200b'.repeat(5000),
    '\u3164'.repeat(5000),
    `b${'\ufe0f'.repeat(5000)}`,
  ])('has no cell that hides or stacks thousands of characters (%#)', async (title) => {
    const text = await written([['ses_1', title]], { columns: 40 });
    expect(text.length).toBeLessThan(600);
    expect(text).toContain('ses_1');
    expect(text).toContain('…');
  });

  test('is aligned under its titles, by the visible width', async () => {
    const rows: readonly Row[] = [
      ['日本', 'one'],
      ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', 'two'],
      ['abcdef', 'three'],
    ];
    const lines = [
      'ID      TITLE',
      '日本    one',
      '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}      two',
      'abcdef  three',
    ];
    expect(await written(rows, { columns: 80 })).toBe(`${lines.join('\n')}\n`);
  });

  test('shows dangerous characters, and a cell on one line', async () => {
    expect(await written([['ses_1', 'a\r\nb\t\x1b[2J\u202e']], { columns: 80 })).toBe(
      'ID     TITLE\nses_1  a b \\x1b[2J\\u{202e}\n',
    );
  });

  test('shortens the flexible column first', async () => {
    expect(await written([['ses_1234', 'a long title of a session']], { columns: 20 })).toBe(
      'ID        TITLE\nses_1234  a long ti…\n',
    );
  });

  test('never cuts a wide character in two', async () => {
    expect(await written([['ses_1', '日本語日本語']], { columns: 15 })).toBe(
      'ID     TITLE\nses_1  日本語…\n',
    );
  });

  test('omits optional columns that are empty or do not fit, and a pipe gets all', async () => {
    const wide: readonly Column<Row>[] = [
      { title: 'ID', value: ([id]) => id },
      { title: 'NOTE', value: () => '', omittedWhen: 'empty' },
      { title: 'FIRST', value: ([id]) => id, omittedWhen: 'narrow' },
      { title: 'SECOND', value: ([id]) => id, omittedWhen: 'narrow' },
      { title: 'TITLE', value: ([, title]) => title },
    ];
    const rows: readonly Row[] = [['abcdefgh', 'a whole title']];
    expect(await written(rows, { columns: 45 }, wide)).toBe(
      'ID        FIRST     SECOND    TITLE\nabcdefgh  abcdefgh  abcdefgh  a whole title\n',
    );
    expect(await written(rows, { columns: 40 }, wide)).toBe(
      'ID        FIRST     TITLE\nabcdefgh  abcdefgh  a whole title\n',
    );
    expect(await written(rows, null, wide)).toBe('abcdefgh\t\tabcdefgh\tabcdefgh\ta whole title\n');
  });

  test('omits the last columns that would be too narrow', async () => {
    const three: readonly Column<Row>[] = [
      { title: 'ID', value: ([id]) => id },
      { title: 'STATUS', value: () => 'valid' },
      { title: 'TITLE', value: ([, title]) => title, flexible: true },
      { title: 'EXPIRES', value: () => '2026-01-31 12:00' },
    ];
    const rows: readonly Row[] = [['key_5678901234567890', 'a long title of a session']];
    const widths = [48, 47, 38, 37, 28, 20, 15];
    const shown = await Promise.all(widths.map((columns) => written(rows, { columns }, three)));
    expect(shown.map((text) => text.split('\n')[1])).toEqual([
      'key_5678901234567890  valid   a long …  2026-01…',
      'key_5678901234567890  valid   a long title of …',
      'key_5678901234567890  valid   a long …',
      'key_5678901234567890  valid',
      'key_5678901234567890  valid',
      'key_5678901234567890',
      'key_5678901234…',
    ]);
  });

  test('without rows is empty', async () => {
    expect(await written([], { columns: 80 })).toBe('');
  });

  test('is never wider than the terminal', () => {
    const character = fc.constantFrom(
      'a',
      ' ',
      '日',
      'é',
      'e\u0301',
      '\u{1f600}',
      '\u{1f1e9}\u{1f1ea}',
      '\u200f',
    );
    const cell = fc.array(character, { maxLength: 30 }).map((parts) => parts.join(''));
    const row = fc.tuple(cell, cell, cell);
    const property = fc.property(
      fc.array(row, { maxLength: 4 }),
      fc.integer({ min: 1, max: 60 }),
      (rows, width) => {
        const three = [
          { title: 'ONE' },
          { title: 'TWO', flexible: true },
          { title: 'THREE', flexible: true },
        ];
        for (const line of align(three, rows, width, stringWidth)) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
        }
      },
    );
    fc.assert(property, { numRuns: runs(80, 1_500) });
  });
});
