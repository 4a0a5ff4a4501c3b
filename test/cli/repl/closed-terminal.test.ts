// A terminal that closes just before the keyboard is read.
import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Keyboard } from '../../../src/cli/repl/keyboard.ts';
import type { TerminalInput } from '../../../src/cli/terminal/question-keys.ts';

test('is reported as closed, not as a failure of its modes', async () => {
  const input = Object.assign(new PassThrough(), {
    setRawMode: () => {
      throw new Error('setRawMode EIO');
    },
  });
  const closed = new Promise<void>((resolve) => {
    const keyboard = new Keyboard({
      open: () => input as unknown as TerminalInput,
      stream: Object.assign(new Writable({ write: (_bytes, _encoding, done) => done() }), { isTTY: true }),
      onInput: () => {},
      onEnd: resolve,
      atExit: () => () => {},
    });
    keyboard.take();
  });
  input.end();
  await expect(closed).resolves.toBeUndefined();
});
