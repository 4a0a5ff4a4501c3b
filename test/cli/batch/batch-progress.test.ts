// The progress of a batch: a line on a terminal, lines elsewhere, and the summary.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { BatchProgress } from '../../../src/cli/batch/batch-progress.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';

/** A progress whose clock and timers the test controls. */
function progressOf(
  form: 'live' | 'lines' | 'none',
  end: number | null,
  {
    unit = 'bytes',
    outcomes = ['answered', 'failed'],
    columns = 40,
  }: { unit?: 'bytes' | 'items'; outcomes?: string[]; columns?: number } = {},
) {
  const stream = new PassThrough();
  const stderr = createOutput(Object.assign(stream, { isTTY: form === 'live', columns }), {
    role: 'talk',
    env: {},
    noColor: false,
    signal: new AbortController().signal,
  });
  let now = 0;
  let timer: { readonly at: number; readonly action: () => void } | null = null;
  const startTimer: StartTimer = (milliseconds, action) => {
    timer = { at: now + milliseconds, action };
    return () => {
      timer = null;
    };
  };
  const progress = new BatchProgress({ stderr, form, end, unit, outcomes, startTimer, now: () => now });
  const pass = (milliseconds: number) => {
    const end = now + milliseconds;
    while (timer !== null && timer.at <= end) {
      now = timer.at;
      timer.action();
    }
    now = end;
  };
  const shown = () => {
    let text = '';
    // A read may return one of the waiting chunks, or all.
    for (let piece = stream.read(); piece !== null; piece = stream.read()) text += piece;
    return text;
  };
  return { progress, pass, shown, stderr, stream };
}

/** Finishes this many lines of ten bytes each, from a given one. */
function finish(progress: BatchProgress, count: number, outcome: string, from = 0): void {
  for (let line = from; line < from + count; line += 1) {
    progress.finish(outcome, line * 10, line * 10 + 10);
  }
}

test('in lines the progress is written every ten seconds: counts, rate, and the remaining time if the end is known', () => {
  const { progress, pass, shown } = progressOf('lines', 3000);
  finish(progress, 90, 'answered');
  finish(progress, 10, 'failed', 90);
  pass(9_999);
  expect(shown()).toBe('');
  pass(1);
  expect(shown()).toBe('90 answered, 10 failed, 33 %, 10 a second, 20 s left\n');
  pass(20_000);
  expect(shown()).toBe(
    '90 answered, 10 failed, 33 %, 5.0 a second, 40 s left\n90 answered, 10 failed, 33 %, 3.3 a second, 60 s left\n',
  );
  progress.stop();
  pass(60_000);
  expect(shown()).toBe('');
});

test('on a terminal the progress is one line that is redrawn, fits the width, and is erased at the end', () => {
  const { progress, pass, shown } = progressOf('live', null);
  progress.pass('answered before');
  finish(progress, 3, 'answered');
  pass(400);
  const line = '3 answered, 1 answered before, 15 a second';
  expect(shown()).toBe(
    `\r${line.slice(0, 39)}\x1b[K\r${'3 answered, 1 answered before, 7.5 a second'.slice(0, 39)}\x1b[K`,
  );
  progress.stop();
  progress.stop();
  expect(shown()).toBe('\r\x1b[K');
});

test('no progress is shown if it was not requested, and the counts are correct all the same', () => {
  const { progress, pass, shown } = progressOf('none', 100);
  finish(progress, 2, 'stopped');
  pass(100_000);
  progress.stop();
  expect(shown()).toBe('');
  expect([progress.sentence('request'), progress.count('failed')]).toEqual([
    '0 requests answered, 2 stopped, in 2 min.',
    0,
  ]);
});

test('with a known number of items the progress shows how many are done, and the outcomes in the order of their first occurrence', () => {
  const { progress, pass, shown } = progressOf('lines', 40, { unit: 'items', outcomes: [] });
  for (const outcome of ['not_found', 'deleted', 'deleted', 'deleted']) progress.finish(outcome);
  progress.pass('duplicate');
  pass(10_000);
  expect(shown()).toBe('4 of 40, 0.4 a second, 2 min left\n');
  expect(progress.sentence('session', new Map([['deleted', ' (1 of them twice)']]))).toBe(
    '1 session not found, 3 deleted (1 of them twice), 1 duplicate, in 10 s.',
  );
});

test('on a wide terminal the line begins with a bar, once the end is known', () => {
  const { progress, pass, shown } = progressOf('live', 40, { unit: 'items', outcomes: [], columns: 80 });
  for (let item = 0; item < 10; item += 1) progress.finish('deleted');
  pass(200);
  expect(shown()).toBe('\r[=====>              ] 10 of 40, 50 a second, 1 s left\x1b[K');
  for (let item = 0; item < 30; item += 1) progress.finish('deleted');
  pass(200);
  expect(shown()).toBe('\r[====================] 40 of 40, 100 a second, 0 s left\x1b[K');
});

test('the bar is left out where the line has no room beside it', () => {
  const options = { unit: 'items' as const, outcomes: [], columns: 60 };
  const { progress, pass, shown } = progressOf('live', 60_000, options);
  for (let item = 0; item < 800; item += 1) progress.finish('deleted');
  pass(200);
  expect(shown()).toBe('\r800 of 60000, 4000 a second, 15 s left\x1b[K');
  progress.stop();
});

test('a pause that a server requested is shown with its seconds, and only while it lasts', () => {
  const { progress, pass, shown } = progressOf('lines', null);
  let pause = 3500;
  progress.waitsFor(() => pause);
  pass(10_000);
  expect(shown()).toBe('0 answered, waiting 4 s for the server, 0.0 a second\n');
  progress.waitsFor(
    () => pause,
    () => 'parley.example says 429',
  );
  pass(10_000);
  expect(shown()).toBe('0 answered, waiting 4 s: parley.example says 429, 0.0 a second\n');
  pause = 0;
  pass(10_000);
  expect(shown()).toBe('0 answered, 0.0 a second\n');
  progress.stop();
});

test('the summary is a sentence, with the duration only of long work', () => {
  const { progress, pass } = progressOf('none', 2, { unit: 'items', outcomes: ['deleted'] });
  progress.finish('deleted');
  progress.finish('failed');
  pass(9_999);
  expect(progress.sentence('session')).toBe('1 session deleted, 1 failed.');
  pass(15_001);
  expect(progress.sentence('session')).toBe('1 session deleted, 1 failed, in 25 s.');
});

test('work without an item shows no line', () => {
  const { progress, pass, shown } = progressOf('live', 0, { unit: 'items' });
  pass(60_000);
  progress.stop();
  expect(shown()).toBe('');
});

test('text that is written to the terminal replaces the drawn line', () => {
  const { pass, shown, stderr } = progressOf('live', 40, { unit: 'items' });
  pass(200);
  shown();
  void stderr.write('Made a store.\n');
  expect(shown()).toBe('\r\x1b[KMade a store.\n');
});

test('a terminal that reports its width only after the start shows the line from then on', () => {
  const { pass, shown, stream } = progressOf('live', 40, { unit: 'items', columns: 0 });
  pass(400);
  expect(shown()).toBe('');
  Object.assign(stream, { columns: 80 });
  pass(200);
  expect(shown()).toContain('0 of 40');
});
