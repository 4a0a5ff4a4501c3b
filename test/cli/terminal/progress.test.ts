// The sign of life of a command that waits.
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { createOutput, type Output } from '../../../src/cli/terminal/output.ts';
import { showWaiting } from '../../../src/cli/terminal/progress.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';

function stderr(terminal: object) {
  return stderrOf(Object.assign(new PassThrough(), terminal));
}

function stderrOf(stream: PassThrough) {
  return createOutput(stream, {
    role: 'talk',
    env: {},
    noColor: false,
    signal: new AbortController().signal,
  });
}

const shownOn = (output: Output, quiet = false) => ({ stderr: output, options: { quiet } });

/** The running timers: a sign of life starts with one. */
function timers() {
  const running = new Set<number>();
  const startTimer: StartTimer = (milliseconds) => {
    running.add(milliseconds);
    return () => void running.delete(milliseconds);
  };
  return { running, startTimer };
}

describe('a sign of life', () => {
  test('appears on a terminal after a moment, and not after a response', () => {
    const { running, startTimer } = timers();
    const sign = showWaiting('x', shownOn(stderr({ isTTY: true, columns: 80 })), startTimer);
    expect([...running]).toEqual([150]);
    sign.stop();
    sign.stop();
    expect([...running]).toEqual([]);
  });

  test.each([
    ['off a terminal', {}, false],
    ['on a terminal of unknown width', { isTTY: true, columns: 0 }, false],
    ['when quiet', { isTTY: true, columns: 80 }, true],
  ])('is not shown %s', async (_, terminal, quiet) => {
    const output = stderr(terminal);
    let isFirst = true;
    const atOnce: StartTimer = (_milliseconds, action) => {
      if (isFirst) {
        isFirst = false;
        action();
      }
      return () => {};
    };
    const sign = showWaiting('x', shownOn(output, quiet), atOnce);
    await import('ora');
    await new Promise(setImmediate);
    sign.stop();
    expect(output.stream.writableLength).toBe(0);
    expect((output.stream as PassThrough).readableLength).toBe(0);
  });

  test('begins later on a terminal that reports its width only after the start', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 0 });
    const output = stderrOf(terminal);
    const actions: (() => void)[] = [];
    const startTimer: StartTimer = (_milliseconds, action) => {
      actions.push(action);
      return () => {};
    };
    const sign = showWaiting('Counting', shownOn(output), startTimer);
    actions.shift()?.();
    await new Promise(setImmediate);
    expect(terminal.readableLength).toBe(0);
    terminal.columns = 80;
    // ora writes to a terminal stream of Node.
    Object.assign(terminal, { cursorTo: () => true, clearLine: () => true, moveCursor: () => true });
    let shown = '';
    terminal.on('data', (part) => {
      shown += part;
    });
    actions.shift()?.();
    await vi.waitFor(() => expect(shown).toContain('Counting'));
    sign.stop();
  });
});
