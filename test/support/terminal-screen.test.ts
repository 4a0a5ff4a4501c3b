// The terminal of the tests reads all output of a program.
import { expect, onTestFinished, test } from 'vitest';
import { TerminalScreen } from './terminal-screen.ts';

test('a busy test loses nothing of what a program wrote before it ended', async () => {
  const env = { PATH: process.env['PATH'] };
  const screen = new TerminalScreen('bash', ['-c', 'sleep 0.15; seq 1000'], { cwd: '/', env });
  const busy = setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250), 1);
  onTestFinished(() => clearInterval(busy));
  await screen.ended;
  expect(screen.bytes.match(/\n/g)).toHaveLength(1000);
});
