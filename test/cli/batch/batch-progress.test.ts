import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { BatchOutcome } from '../../../src/cli/batch/batch-answers.ts';
import { BatchProgress } from '../../../src/cli/batch/batch-progress.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';

/** A progress whose clock and timers the test moves on. */
function progressOf(form: 'live' | 'lines' | 'none', inputSize: number | null) {
  const stream = new PassThrough();
  const stderr = createOutput(Object.assign(stream, { isTTY: form === 'live', columns: 40 }), {
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
  const progress = new BatchProgress({ stderr, form, inputSize, startTimer, now: () => now });
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
    // A read may give one of the pieces that wait, or all.
    for (let piece = stream.read(); piece !== null; piece = stream.read()) text += piece;
    return text;
  };
  return { progress, pass, shown };
}

function resultsOf(count: number, outcome: BatchOutcome['outcome'], from = 0): readonly BatchOutcome[] {
  return Array.from({ length: count }, (_, index) => ({
    text: '',
    outcome,
    item: {
      ...{ line: index, id: index, size: 10, end: (from + index + 1) * 10 },
      request: { message: 'm', mode: null, session_id: null, title: null },
    },
  }));
}

test('as lines it is told every ten seconds: counts, rate, and the time left where the end is known', () => {
  const { progress, pass, shown } = progressOf('lines', 3000);
  progress.add(resultsOf(90, 'answered'));
  progress.add(resultsOf(10, 'failed', 90));
  pass(9_999);
  expect(shown()).toBe('');
  pass(1);
  expect(shown()).toBe('90 answered, 10 failed, 10 a second, 20 s left\n');
  pass(20_000);
  expect(shown()).toBe(
    '90 answered, 10 failed, 5.0 a second, 40 s left\n90 answered, 10 failed, 3.3 a second, 60 s left\n',
  );
  progress.stop();
  pass(60_000);
  expect(shown()).toBe('');
});

test('on a terminal it is one line that is drawn again, no wider than that, and gone at the end', () => {
  const { progress, pass, shown } = progressOf('live', null);
  progress.skip();
  progress.add(resultsOf(3, 'answered'));
  pass(400);
  const line = '3 answered, 1 answered before, 15 a second';
  expect(shown()).toBe(
    `\r${line.slice(0, 39)}\x1b[K\r${'3 answered, 1 answered before, 7.5 a second'.slice(0, 39)}\x1b[K`,
  );
  progress.stop();
  progress.stop();
  expect(shown()).toBe('\r\x1b[K');
});

test('is not there where nobody asked for it, and counts all the same', () => {
  const { progress, pass, shown } = progressOf('none', 100);
  progress.add(resultsOf(2, 'interrupted'));
  pass(100_000);
  progress.stop();
  expect(shown()).toBe('');
  expect([progress.summary(), progress.failed]).toEqual(['0 answered, 2 stopped', 0]);
});
