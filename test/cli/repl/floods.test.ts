// Floods of keys, pastes and changes of size at the prompt: the line is drawn once for many of them, and Ctrl-C works.
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { afterEach, describe, expect, test } from 'vitest';
import { type EarlierLayout, layOut, type Prompt } from '../../../src/cli/repl/line-layout.ts';
import { LineReader } from '../../../src/cli/repl/line-reader.ts';
import type { LineReaderOptions } from '../../../src/cli/repl/line-reader-options.ts';
import { characterAfter, characterBefore } from '../../../src/cli/repl/line-text.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import type { TerminalInput } from '../../../src/cli/terminal/question-keys.ts';
import { runs } from '../../support/runs.ts';
import { leave, paste, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
const readers: LineReader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
  fixture.close();
});

/** A line that is read from a stream of keys. Its drawings are counted. */
function openReader(options: Partial<LineReaderOptions> = {}) {
  const keys = new PassThrough();
  const drawn: string[] = [];
  const stream = Object.assign(
    new Writable({
      write: (bytes, _encoding, done) => {
        drawn.push(String(bytes));
        done();
      },
    }),
    { isTTY: true, columns: 80, rows: 24 },
  );
  const reader = new LineReader({
    open: () => keys as unknown as TerminalInput,
    output: createOutput(stream, {
      role: 'data',
      env: {},
      noColor: true,
      signal: new AbortController().signal,
    }),
    job: {
      atExit: () => () => {},
      onContinue: () => () => {},
      onInterrupt: () => () => {},
      onHangUp: () => () => {},
      suspend: async () => {},
    },
    reflows: false,
    history: () => [],
    complete: async (_text, at) => nothing(at),
    leaveHint: '',
    openEditor: async () => null,
    ...options,
  });
  readers.push(reader);
  const line = reader.read(() => prompt, '');
  drawn.length = 0;
  return { keys, drawn, stream, line };
}

const prompt: Prompt = { text: '> ', styled: '> ' };
const nothing = (at: number) => ({ from: at, to: at, insert: '', choices: [] as string[] });

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

describe('a flood', () => {
  test('of keys that arrive together draws the line once', async () => {
    const { keys, drawn } = openReader();
    keys.write('x\x1b[D'.repeat(450));
    await until(() => drawn.length > 0);
    expect(drawn).toHaveLength(1);
    expect(drawn[0]).toContain('x'.repeat(78));
  });

  test('of keys without an effect rings the bell once', async () => {
    const { keys, drawn } = openReader();
    keys.write('\x1b[A'.repeat(300));
    await until(() => drawn.length > 1);
    expect(drawn.filter((text) => text.includes('\x07'))).toHaveLength(1);
  });

  test('of sizes draws the line once', async () => {
    const { keys, drawn, stream } = openReader();
    keys.write('a line of some words');
    await until(() => drawn.length > 0);
    drawn.length = 0;
    for (let columns = 1_010; columns > 10; columns--) {
      stream.columns = columns;
      stream.emit('resize');
    }
    await until(() => drawn.length > 0);
    expect(drawn).toHaveLength(1);
  });

  test('of text that no older line contains searches them once, and shows the end of the text', async () => {
    let looked = 0;
    const lines = new Proxy(['an older line'], {
      get: (target, name) => {
        if (name === '0') looked += 1;
        return Reflect.get(target, name);
      },
    });
    const { keys, drawn } = openReader({ history: () => lines });
    keys.write(`\x12${'z'.repeat(900)}`);
    await until(() => drawn.some((text) => text.includes('no match')));
    expect(looked).toBe(1);
    expect(drawn.at(-1)).toContain(`(no match "…${'z'.repeat(40)}") `);
  });

  test('of a megabyte in a search is compared with a thousand lines in a moment', async () => {
    const history = Array.from({ length: 1000 }, (_, index) => `an older line ${index}`);
    const { keys, drawn } = openReader({ history: () => history });
    const start = performance.now();
    keys.write(`\x12${paste('z'.repeat(1_000_000))}`);
    await until(() => drawn.some((text) => text.includes('no match')));
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('of Tab requests the choices twice, and Ctrl-C drops the keys that wait for a completion', async () => {
    let requests = 0;
    const { keys, line } = openReader({
      complete: async (_text, at) => {
        requests += 1;
        await nextTurn();
        return nothing(at);
      },
    });
    keys.write('\t'.repeat(900));
    await nextTurn();
    await until(() => requests === 2);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    expect(requests).toBe(2);
    keys.write(`${'\tx'.repeat(400)}\x03`);
    await nextTurn();
    keys.write('kept\r');
    expect(await line).toMatchObject({ kind: 'line', line: { text: 'kept' } });
    expect(requests).toBe(3);
  });

  test('at a terminal is drawn in few steps, and the line is complete afterwards', async () => {
    const screen = fixture.open(['repl', '-m', 'echo'], { columns: 80, rows: 24 });
    await screen.stands('echo> ');
    const before = screen.bytes.length;
    const count = 6_000;
    screen.type(`${'x\x1b[D'.repeat(count)}END`);
    for (let size = 0; size < 30; size++) screen.resize(80 - (size % 3), 24);
    await screen.until('all is taken', () => screen.rows.some((row) => row.startsWith('echo> ENDxxx')));
    // Each key would write up to 23 rows.
    expect(screen.bytes.length - before).toBeLessThan(count * 300);
    screen.type('\x03');
    await screen.stands('echo> ');
    expect(screen.text.split('x').length - 1).toBeGreaterThanOrEqual(count);
    screen.type(paste('y'.repeat(1_000_000)));
    await screen.stands('echo> [pasted 1000000 characters]');
    screen.type('\x03');
    await screen.stands('echo> ');
    screen.type('still here\r');
    await screen.stands('echo (still here)> ');
    await leave(screen);
  });
});

const parts = fc.constantFrom('a', 'word ', '\n', '\t', '你', '👩‍👩‍👧', '🇩🇪', '\u0301', '\x1b', '\udc00');
const texts = fc.array(parts, { maxLength: 60 }).map((all) => all.join(''));

test('the history is not read before the first key', async () => {
  let reads = 0;
  const history = () => {
    reads += 1;
    return [];
  };
  const { keys, drawn } = openReader({ history });
  expect(reads).toBe(0);
  keys.write('x');
  await until(() => drawn.length > 0);
  expect(reads).toBeGreaterThan(0);
});

describe('the reused part of an earlier layout', () => {
  test('gives the same rows as a new layout', () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.tuple(fc.nat(400), fc.nat(20), texts, fc.nat(400)), { maxLength: 5 }),
        fc.integer({ min: 4, max: 30 }),
        (first, edits, columns) => {
          const options = { columns, measure: stringWidth };
          const pastes = ['one\ntwo\nthree'];
          let earlier: EarlierLayout | null = null;
          let text = first;
          for (const [from, length, added, at] of [[0, 0, '', 0] as const, ...edits]) {
            text = text.slice(0, from) + added + text.slice(from + length);
            const line = { text, cursor: Math.min(at, text.length), pastes };
            const layout = layOut(prompt, line, { ...options, earlier });
            expect(layout).toEqual(layOut(prompt, line, options));
            earlier = { prompt, line, columns, layout };
          }
        },
      ),
      { numRuns: runs(150, 20_000) },
    );
  });

  test('of a line of 20,000 characters is all except its last rows', () => {
    let measured = 0;
    const measure = (text: string) => {
      measured += text.length;
      return 2 * text.length;
    };
    const text = '漢字'.repeat(10_000);
    const line = (end: string) => ({ text: text + end, cursor: text.length + end.length, pastes: [] });
    const layout = layOut(prompt, line(''), { columns: 80, measure });
    measured = 0;
    layOut(prompt, line('x'), {
      columns: 80,
      measure,
      maxRowsBelow: 23,
      earlier: { prompt, line: line(''), columns: 80, layout },
    });
    expect(measured).toBeLessThan(500);
    measured = 0;
    layOut(prompt, { text, cursor: 0, pastes: [] }, { columns: 80, measure, maxRowsBelow: 23 });
    expect(measured).toBeLessThan(2_500);
  });
});

test('the characters of a part of a long line have the same bounds as in the whole text', () => {
  const graphemes = ['👩‍👩‍👧', '🇩🇪', '漢', `e${'\u0301'.repeat(200)}`, 'a', '🇩🇪'.repeat(40)];
  const text = Array.from({ length: 60 }, (_, index) => graphemes[(index * 7) % graphemes.length]).join('');
  const starts = [...new Intl.Segmenter().segment(text)].map(({ index }) => index);
  for (const [index, start] of starts.entries()) {
    const end = starts[index + 1] ?? text.length;
    expect(characterAfter(text, start)).toBe(end);
    expect(characterBefore(text, end)).toBe(start);
  }
});
