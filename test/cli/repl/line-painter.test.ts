// The drawing of a line, read by a terminal emulator: the screen shows the current line, whatever was drawn before.
import { Writable } from 'node:stream';
import headless from '@xterm/headless';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { layOut, type Prompt, type ShownLine } from '../../../src/cli/repl/line-layout.ts';
import { LinePainter } from '../../../src/cli/repl/line-painter.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { terminalText } from '../../../src/cli/terminal/terminal-text.ts';
import { modernWidths } from '../../support/modern-widths.ts';
import { runs } from '../../support/runs.ts';

const { Terminal } = headless;

const prompt: Prompt = { text: 'echo> ', styled: terminalText`\x1b[1mecho\x1b[22m> ` };

class Screen {
  #terminal: InstanceType<typeof Terminal>;
  readonly #stream: Writable & { isTTY: boolean; columns: number; rows: number };
  readonly painter: LinePainter;
  /** The column and row of the cursor each time that all below it was cleared. */
  readonly clearedFrom: (readonly number[])[] = [];
  /** The whole output. */
  written = '';

  constructor(columns: number, rows: number, { reflows = false } = {}) {
    this.#terminal = this.#opened(columns, rows);
    const stream = new Writable({
      write: (bytes, _encoding, done) => {
        this.written += bytes;
        this.#terminal.write(bytes, done);
      },
    });
    this.#stream = Object.assign(stream, { isTTY: true, columns, rows });
    const signal = new AbortController().signal;
    const output = createOutput(this.#stream, { role: 'data', env: {}, noColor: true, signal });
    this.painter = new LinePainter({ output, measure: stringWidth, reflows });
  }

  async type(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.#stream.write(text, () => resolve()));
  }

  /** Resizes as xterm.js does: the row of the cursor, and the rows below, are cut or not changed. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.seen();
    this.#terminal.resize(columns, rows);
    this.#stream.columns = columns;
  }

  /** Resizes as a terminal that reflows: the screen is as if it had always had this width. */
  async reflow(columns: number, rows: number, content: string): Promise<void> {
    await this.seen();
    this.#stream.columns = columns;
    this.#terminal = this.#opened(columns, rows);
    await new Promise<void>((resolve) => this.#terminal.write(content, () => resolve()));
  }

  #opened(columns: number, rows: number): InstanceType<typeof Terminal> {
    const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
    terminal.unicode.register(modernWidths);
    terminal.unicode.activeVersion = modernWidths.version;
    terminal.parser.registerCsiHandler({ final: 'J' }, () => {
      const { cursorX, cursorY } = terminal.buffer.active;
      this.clearedFrom.push([cursorX, cursorY]);
      return false;
    });
    return terminal;
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
  test('at the top of the screen is redrawn without clearing from the first cell', async () => {
    // tmux keeps cleared rows among the lines that scrolled away, so each key would leave a copy.
    const screen = new Screen(20, 10);
    const text = 'a line of several rows, folded';
    for (const cursor of [0, 5, text.length]) screen.painter.paint(prompt, { text, cursor, pastes: [] });
    screen.painter.erase();
    await screen.seen();
    expect(screen.clearedFrom.length).toBeGreaterThan(0);
    expect(screen.clearedFrom).not.toContainEqual([0, 0]);
  });

  test('that was changed looks like one that was drawn in one step', async () => {
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
      { numRuns: runs(40, 1_000) },
    );
  });

  test('takes the rows, and has its cursor, where the layout says', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 12, max: 60 }), async (line, columns) => {
        const screen = new Screen(columns, 200);
        screen.painter.paint(prompt, line);
        const { rows, cursor } = layOut({ ...prompt, styled: prompt.text }, line, {
          columns,
          measure: stringWidth,
        });
        const seen = await screen.seen();
        expect(seen.cursor).toEqual([cursor.column, cursor.row]);
        expect(seen.rows.map((row) => row.trimEnd())).toEqual(
          rows.slice(0, seen.rows.length).map(({ text }) => text.trimEnd()),
        );
      }),
      { numRuns: runs(60, 1_000) },
    );
  });

  test('higher than the screen shows the part around the cursor, and all of it when it is finished', async () => {
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

  test('that changes at its end is not rewritten above the change', async () => {
    const screen = new Screen(20, 10);
    const text = 'a line of several rows, folded at twenty columns';
    const paint = (line: string, cursor = line.length) =>
      screen.painter.paint(prompt, { text: line, cursor, pastes: [] });
    paint(text);
    await screen.seen();
    screen.written = '';
    paint(text.slice(0, -1));
    paint(text.slice(0, -1), 0);
    await screen.seen();
    expect(screen.written).not.toContain('echo');
    expect(screen.written).not.toContain('several');
    paint('x');
    expect(await screen.seen()).toEqual({ rows: ['echo> x'], cursor: [7, 0] });
  });

  test('in which only the cursor moves is not rewritten', async () => {
    const screen = new Screen(20, 10);
    const text = 'a line of several rows, folded at twenty columns';
    for (let cursor = text.length; cursor > 0; cursor -= 7) {
      screen.painter.paint(prompt, { text, cursor, pastes: [] });
      const seen = await screen.seen();
      const fresh = new Screen(20, 10);
      fresh.painter.paint(prompt, { text, cursor, pastes: [] });
      expect(seen).toEqual(await fresh.seen());
      if (cursor < text.length) expect(screen.written).toMatch(/^(\x1b\[\d+[ABC]|\r)+$/);
      screen.written = '';
    }
  });

  test('is erased completely, and the text above stays', async () => {
    const screen = new Screen(20, 10);
    screen.painter.paint(prompt, { text: 'first', cursor: 5, pastes: [] });
    screen.painter.finish(prompt, { text: 'first', cursor: 5, pastes: [] });
    screen.painter.paint(prompt, { text: 'a line of several rows, folded', cursor: 3, pastes: [] });
    screen.painter.erase();
    expect(await screen.seen()).toEqual({ rows: ['echo> first'], cursor: [0, 1] });
  });
});

test('untrusted text has no effect except visible characters', () => {
  const { rows } = layOut(
    prompt,
    { text: 'a\x1b[2Jb\u202ec', cursor: 0, pastes: [] },
    { columns: 80, measure: stringWidth },
  );
  expect(rows[0]?.text).toBe(`${prompt.styled}a\\x1b[2Jb\\u{202e}c`);
});

describe('a terminal that is resized', () => {
  const text = 'a line of several rows, 日本語 and more, until it ends in the last of them';
  const widths = fc.integer({ min: 12, max: 60 });
  const fresh = async (columns: number, line: ShownLine) => {
    const screen = new Screen(columns, 30);
    await screen.type('above\n');
    screen.painter.paint(prompt, line);
    return screen.seen();
  };

  test('and rewraps the line itself gets no output, and the next key is drawn at its place', async () => {
    const property = fc.asyncProperty(widths, widths, fc.nat(text.length), async (before, after, at) => {
      const line = { text: text.slice(0, at), cursor: at, pastes: [] };
      const screen = new Screen(before, 30, { reflows: true });
      await screen.type('above\n');
      screen.painter.paint(prompt, line);
      const { cursor } = await screen.seen();
      // After a full row there is a blank with the cursor, on a row of its own if the last row is full again.
      const onBlank = (await fresh(after, line)).cursor[0] === 0 ? ' \b' : '\x1b7 \x1b8';
      const behind = cursor[0] === 0 ? onBlank : '';
      await screen.reflow(after, 30, `above\n${prompt.styled}${line.text}${behind}`);
      screen.written = '';
      screen.painter.resized(prompt, line);
      expect(await screen.seen()).toEqual(await fresh(after, line));
      expect(screen.written.trim()).toBe('');
      const changed = { text: `${line.text.slice(0, 5)}XX`, cursor: 0, pastes: [] };
      screen.painter.paint(prompt, changed);
      expect(await screen.seen()).toEqual(await fresh(after, changed));
    });
    await fc.assert(property, {
      numRuns: runs(10, 400),
      examples: [
        [33, 13, 56],
        [38, 38, 67],
        [12, 12, 39],
        [59, 59, 50],
      ],
    });
  });

  test('and does not rewrap the line gets it redrawn, with no remains above', async () => {
    const property = fc.asyncProperty(widths, widths, fc.nat(text.length), async (before, after, cursor) => {
      const screen = new Screen(before, 30);
      await screen.type('above\n');
      screen.painter.paint(prompt, { text, cursor, pastes: [] });
      await screen.resize(after, 30);
      screen.painter.resized(prompt, { text, cursor, pastes: [] });
      expect(await screen.seen()).toEqual(await fresh(after, { text, cursor, pastes: [] }));
    });
    await fc.assert(property, { numRuns: runs(10, 400) });
  });

  test('shows a prompt that depends on the width', async () => {
    const screen = new Screen(40, 30, { reflows: true });
    const line = { text: 'abc', cursor: 3, pastes: [] };
    const long = { text: 'echo (a long title)> ', styled: 'echo (a long title)> ' };
    await screen.type('above\n');
    screen.painter.paint(long, line);
    await screen.reflow(12, 30, `above\n${long.text}abc`);
    screen.painter.resized(prompt, line);
    expect(await screen.seen()).toEqual(await fresh(12, line));
  });
});
