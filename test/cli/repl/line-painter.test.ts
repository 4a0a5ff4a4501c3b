// What is drawn of a line, read by a terminal emulator: however it came about, the screen shows the line as it is now.
import { Writable } from 'node:stream';
import headless from '@xterm/headless';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { layOut, type Prompt, type ShownLine } from '../../../src/cli/repl/line-layout.ts';
import { LinePainter } from '../../../src/cli/repl/line-painter.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { modernWidths } from '../../support/modern-widths.ts';

const { Terminal } = headless;

const prompt: Prompt = { text: 'echo> ', styled: '\x1b[1mecho\x1b[22m> ' };

class Screen {
  readonly #terminal: InstanceType<typeof Terminal>;
  readonly #stream: Writable & { isTTY: boolean; columns: number; rows: number };
  readonly painter: LinePainter;
  /** Where the cursor stood, column and row, each time all below it was cleared. */
  readonly clearedFrom: (readonly number[])[] = [];

  constructor(columns: number, rows: number) {
    this.#terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
    this.#terminal.unicode.register(modernWidths);
    this.#terminal.unicode.activeVersion = modernWidths.version;
    this.#terminal.parser.registerCsiHandler({ final: 'J' }, () => {
      const { cursorX, cursorY } = this.#terminal.buffer.active;
      this.clearedFrom.push([cursorX, cursorY]);
      return false;
    });
    const stream = new Writable({
      write: (bytes, _encoding, done) => this.#terminal.write(bytes, done),
    });
    this.#stream = Object.assign(stream, { isTTY: true, columns, rows });
    const signal = new AbortController().signal;
    const output = createOutput(this.#stream, { role: 'data', env: {}, noColor: true, signal });
    this.painter = new LinePainter(output, stringWidth);
  }

  async seen(): Promise<{ readonly rows: readonly string[]; readonly cursor: readonly number[] }> {
    await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: this.#terminal.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
    return {
      rows: rows.slice(0, rows.findLastIndex((row) => row !== '') + 1),
      cursor: [active.cursorX, active.cursorY],
    };
  }
}

const characters = fc.constantFrom(
  'a',
  'b',
  ' ',
  'word',
  '\n',
  '\t',
  '你',
  '好',
  '👩‍👩‍👧',
  'e\u0301',
  '\x1b',
  '\u202e',
  '\udc00',
);
const lines: fc.Arbitrary<ShownLine> = fc
  .tuple(fc.array(characters, { maxLength: 40 }), fc.nat())
  .map(([parts, at]) => {
    const borders = parts
      .map((_, index) => parts.slice(0, index).join('').length)
      .concat(parts.join('').length);
    const text = parts.join('');
    const segments = new Set(
      [...new Intl.Segmenter().segment(text)].map(({ index }) => index).concat(text.length),
    );
    const cursor = borders.filter((border) => segments.has(border))[at % borders.length] ?? text.length;
    return { text, cursor, pastes: ['one\ntwo\nthree'] };
  });

describe('a line', () => {
  test('at the top of the screen is drawn anew without clearing from the first cell on', async () => {
    // tmux keeps what is cleared from there among the lines that scrolled away: each key would leave a copy.
    const screen = new Screen(20, 10);
    const text = 'a line of several rows, folded';
    for (const cursor of [0, 5, text.length]) screen.painter.paint(prompt, { text, cursor, pastes: [] });
    screen.painter.erase();
    await screen.seen();
    expect(screen.clearedFrom.length).toBeGreaterThan(0);
    expect(screen.clearedFrom).not.toContainEqual([0, 0]);
  });

  test('that was changed looks like one that was drawn at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(lines, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 12, max: 60 }),
        async (drawn, columns) => {
          const changed = new Screen(columns, 60);
          for (const line of drawn) changed.painter.paint(prompt, line);
          const fresh = new Screen(columns, 60);
          fresh.painter.paint(prompt, drawn.at(-1) ?? { text: '', cursor: 0, pastes: [] });
          expect(await changed.seen()).toEqual(await fresh.seen());
        },
      ),
      { numRuns: 200 },
    );
  });

  test('takes the rows, and has its cursor, where the layout says', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 12, max: 60 }), async (line, columns) => {
        const screen = new Screen(columns, 200);
        screen.painter.paint(prompt, line);
        const { rows, cursor } = layOut({ ...prompt, styled: prompt.text }, line, columns, stringWidth);
        const seen = await screen.seen();
        expect(seen.cursor).toEqual([cursor.column, cursor.row]);
        expect(seen.rows.map((row) => row.trimEnd())).toEqual(
          rows.slice(0, seen.rows.length).map(({ text }) => text.trimEnd()),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('higher than the screen shows what is about the cursor, and all of it once it is finished', async () => {
    const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n');
    const screen = new Screen(40, 10);
    screen.painter.paint(prompt, { text, cursor: text.indexOf('line 25'), pastes: [] });
    const { rows, cursor } = await screen.seen();
    expect(rows[cursor[1] ?? 0]).toBe('  line 25');
    expect(rows.length).toBeLessThanOrEqual(10);
    screen.painter.finish(prompt, { text, cursor: 0, pastes: [] });
    const finished = await screen.seen();
    expect(finished.rows.slice(-2)).toEqual(['  line 48', '  line 49']);
    expect(finished.cursor).toEqual([0, 9]);
  });

  test('is erased without a trace, and what stood above stays', async () => {
    const screen = new Screen(20, 10);
    screen.painter.paint(prompt, { text: 'first', cursor: 5, pastes: [] });
    screen.painter.finish(prompt, { text: 'first', cursor: 5, pastes: [] });
    screen.painter.paint(prompt, { text: 'a line of several rows, folded', cursor: 3, pastes: [] });
    screen.painter.erase();
    expect(await screen.seen()).toEqual({ rows: ['echo> first'], cursor: [0, 1] });
  });
});

test('text of another makes nothing but itself visible', () => {
  const { rows } = layOut(prompt, { text: 'a\x1b[2Jb\u202ec', cursor: 0, pastes: [] }, 80, stringWidth);
  expect(rows[0]?.text).toBe(`${prompt.styled}a\\x1b[2Jb\\u{202e}c`);
});
