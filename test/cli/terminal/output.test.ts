// A standard stream as commands use it: its pace, its end, its colours, and the form of untrusted text.
import { setMaxListeners } from 'node:events';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { describe, expect, test } from 'vitest';
import { createOutput, type OutputOptions } from '../../../src/cli/terminal/output.ts';
import { colourLevel } from '../../../src/cli/terminal/style.ts';
import { terminalText } from '../../../src/cli/terminal/terminal-text.ts';
import { stringStream } from './string-stream.ts';

/** Keeps each chunk until `take` is called. */
class SlowStream extends Writable {
  readonly taken: string[] = [];
  readonly isTTY: boolean;
  #take: (error?: Error) => void = () => {};

  constructor({ isTTY = false } = {}) {
    super({ highWaterMark: 4, decodeStrings: false });
    this.isTTY = isTTY;
  }

  override _write(chunk: string, _encoding: string, taken: (error?: Error) => void): void {
    this.taken.push(chunk);
    this.#take = taken;
  }

  take(error?: Error): void {
    this.#take(error);
  }
}

const { signal } = new AbortController();
// All outputs of the file share one signal.
setMaxListeners(0, signal);
const data: OutputOptions = { role: 'data', env: {}, noColor: false, signal };
const talk: OutputOptions = { ...data, role: 'talk' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  promise.then(mark, mark);
  await turn();
  return settled;
}

describe('writing', () => {
  test('waits while the stream is full, and continues when it has room', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    const first = output.write('full');
    const second = output.write('more');
    expect(await isSettled(Promise.race([first, second]))).toBe(false);
    slow.take();
    await turn();
    slow.take();
    await Promise.all([first, second]);
    expect(slow.taken).toEqual(['full', 'more']);
  });

  test('is finished only when all output was passed on', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    await output.write('abc');
    const finished = output.finish();
    expect(await isSettled(finished)).toBe(false);
    slow.take();
    await turn();
    slow.take();
    await finished;
    expect(slow.writableLength).toBe(0);
  });

  test('of nothing, and finishing after nothing, do not touch the stream', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    await output.write('');
    await output.finish();
    expect(slow.taken).toEqual([]);
  });

  test.each(['EPIPE', 'ECONNRESET'])('ends without an error when the reader has left (%s)', async (code) => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    const waiting = [output.write('full'), output.write('more'), output.finish()];
    expect(output.gone.aborted).toBe(false);
    slow.take(Object.assign(new Error(`write ${code}`), { code }));
    await Promise.all(waiting);
    expect(output.gone.aborted).toBe(true);
    await output.write('later');
    await output.finish();
    expect(slow.taken).toEqual(['full']);
  });

  test('of data that fails is a failure, also for later writes', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    const waiting = output.write('full');
    slow.take(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
    const failure = {
      code: 'STORAGE_FULL',
      message: 'The output could not be written: ENOSPC: no space left on device, write.',
    };
    await expect(waiting).rejects.toMatchObject(failure);
    await expect(output.write('later')).rejects.toMatchObject(failure);
    await expect(output.finish()).rejects.toMatchObject(failure);
    expect(output.gone.reason).toMatchObject(failure);
  });

  test('of messages that fails is no failure', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, talk);
    const waiting = output.write('full');
    slow.take(Object.assign(new Error('EIO'), { code: 'EIO' }));
    await waiting;
    await output.write('later');
    await output.finish();
    expect(output.gone.aborted).toBe(true);
  });

  test('to a stream that was destroyed is nothing', async () => {
    const slow = new SlowStream();
    const output = createOutput(slow, data);
    const waiting = output.write('full');
    slow.destroy();
    await waiting;
    await output.write('later');
    expect(output.gone.aborted).toBe(true);
  });
});

describe('text', () => {
  test('of Parley reaches a terminal unchanged; inserted values are filtered, unless they are such texts', async () => {
    const terminal = stringStream({ isTTY: true });
    const output = createOutput(terminal.stream, data);
    const { bold } = await createOutput(terminal.stream, { ...data, env: { FORCE_COLOR: '1' } }).style();
    const hostile = '\x1b[2J';
    await output.write(terminalText`\x1b[K${hostile} ${bold(hostile)} ${[hostile, bold('x')]} ${1}`);
    expect(terminal.text()).toBe('\x1b[K\\x1b[2J \x1b[1m\\x1b[2J\x1b[22m \\x1b[2J\x1b[1mx\x1b[22m 1');
  });

  test('of Parley that became part of a string is filtered again', async () => {
    const terminal = stringStream({ isTTY: true });
    await createOutput(terminal.stream, data).write(`${terminalText`\x1b[K`}!`);
    expect(terminal.text()).toBe('\\x1b[K!');
  });
});

describe('untrusted text', () => {
  const hostile = 'a\r\nb\x1b[2J\u202e';
  const filtered = 'a\nb\\x1b[2J\\u{202e}';

  test.each([
    ['data to a terminal', data, true, filtered],
    ['data to a pipe or file', data, false, hostile],
    ['talk to a terminal', talk, true, filtered],
    ['talk to a pipe or file', talk, false, filtered],
  ])('as %s has its form, as a whole and in chunks', async (_, options, isTTY, form) => {
    const whole = stringStream({ isTTY });
    const output = createOutput(whole.stream, options);
    expect(output.visible(hostile)).toBe(form);
    await output.write(hostile);
    expect(whole.text()).toBe(form);

    const pieces = stringStream({ isTTY });
    const writer = createOutput(pieces.stream, options).untrusted();
    for (const unit of hostile.split('')) await writer.write(unit);
    await writer.end();
    expect(pieces.text()).toBe(form);
  });

  test('in chunks joins a character that was cut', async () => {
    const pipe = stringStream({ isTTY: false });
    const writer = createOutput(pipe.stream, data).untrusted();
    for (const unit of '\u{1f600}') await writer.write(unit);
    for (const unit of '\u{1f600}'.split('')) await writer.write(unit);
    await writer.end();
    expect(Buffer.from(pipe.text())).toEqual(Buffer.from('\u{1f600}\u{1f600}'));
  });

  test.each([
    [['a', 'b'], 'ab\n'],
    [['a\n', ''], 'a\n'],
    [['a\r', '\n'], 'a\n'],
    [['a\n', 'b'], 'a\nb\n'],
    [['a\r'], 'a\\x0d\n'],
    [[], '\n'],
  ])('ends its line: %j', async (pieces, expected) => {
    const terminal = stringStream({ isTTY: true });
    const writer = createOutput(terminal.stream, data).untrusted();
    for (const piece of pieces) await writer.write(piece);
    await writer.endLine();
    expect(terminal.text()).toBe(expected);
  });
});

describe('colour', () => {
  // The real method, on any terminal; this TERM has 256 colours.
  const terminal = { isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth };
  const TERM = 'xterm-256color';
  const pipe = {};

  test.each([
    ['a terminal', terminal, { TERM }, false, 2],
    ['a pipe', pipe, {}, false, 0],
    ['NO_COLOR', terminal, { TERM, NO_COLOR: '1' }, false, 0],
    ['an empty NO_COLOR', terminal, { TERM, NO_COLOR: '' }, false, 2],
    ['TERM=dumb', terminal, { TERM: 'dumb' }, false, 0],
    ['an empty FORCE_COLOR', terminal, { TERM, FORCE_COLOR: '' }, false, 2],
    ['--no-color', terminal, { TERM }, true, 0],
    ['FORCE_COLOR', pipe, { FORCE_COLOR: '1' }, false, 1],
    ['FORCE_COLOR=true', pipe, { FORCE_COLOR: 'true' }, false, 1],
    ['FORCE_COLOR=2', pipe, { FORCE_COLOR: '2' }, false, 2],
    ['FORCE_COLOR=3', pipe, { FORCE_COLOR: '3' }, false, 3],
    ['FORCE_COLOR=constructor', pipe, { FORCE_COLOR: 'constructor' }, false, 1],
    ['FORCE_COLOR=0', terminal, { TERM, FORCE_COLOR: '0' }, false, 0],
    ['FORCE_COLOR=false', terminal, { TERM, FORCE_COLOR: 'false' }, false, 0],
    ['an empty FORCE_COLOR in a pipe', pipe, { FORCE_COLOR: '' }, false, 0],
    ['FORCE_COLOR over NO_COLOR', pipe, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, 1],
    ['FORCE_COLOR over TERM=dumb', pipe, { FORCE_COLOR: '1', TERM: 'dumb' }, false, 1],
    ['--no-color over FORCE_COLOR', terminal, { TERM, FORCE_COLOR: '3' }, true, 0],
  ] as const)('with %s follows it', (_, given, env, noColor, level) => {
    expect(colourLevel(given, env, noColor)).toBe(level);
  });

  test.each([
    [1, 0],
    [4, 1],
    [8, 2],
    [24, 3],
  ])('of a terminal with %i bits is level %i', (depth, level) => {
    expect(colourLevel({ isTTY: true, getColorDepth: () => depth }, {}, false)).toBe(level);
  });

  test('is used only by the style of a stream with colour', async () => {
    const coloured = createOutput(stringStream({ isTTY: false }).stream, {
      ...data,
      env: { FORCE_COLOR: '1' },
    });
    const plain = createOutput(stringStream({ isTTY: false }).stream, data);
    expect(String((await coloured.style()).red('x'))).toBe('\x1b[31mx\x1b[39m');
    expect(String((await plain.style()).bold('x'))).toBe('x');
  });
});

describe('a terminal', () => {
  const sized = (columns?: number) =>
    Object.assign(stringStream({ isTTY: true }).stream, columns === undefined ? {} : { columns });

  test('has its width, or 80 if that is unknown', () => {
    expect([120, 0, undefined].map((columns) => createOutput(sized(columns), data).columns())).toEqual([
      120, 80, 80,
    ]);
  });

  test('is redrawn only with a known width, outside of CI, and unless it is dumb', () => {
    const redraws = (columns: number, env: OutputOptions['env']) =>
      createOutput(sized(columns), { ...talk, env }).redraws;
    expect(redraws(80, {})).toBe(true);
    expect(redraws(80, { CI: '' })).toBe(true);
    expect([redraws(0, {}), redraws(80, { TERM: 'dumb' }), redraws(80, { CI: '1' })]).toEqual([
      false,
      false,
      false,
    ]);
    expect(createOutput(stringStream({ isTTY: false }).stream, talk).redraws).toBe(false);
  });
});
