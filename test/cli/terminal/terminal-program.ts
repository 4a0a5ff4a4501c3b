// The program that the tests of this folder run as a process: each word uses one part of the terminal code on the real streams.
import { openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interruption } from '../../../src/cli/interruption.ts';
import { IdList } from '../../../src/cli/session-batch/id-list.ts';
import { directStream } from '../../../src/cli/terminal/direct-stream.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { showWaiting } from '../../../src/cli/terminal/progress.ts';
import { confirm } from '../../../src/cli/terminal/prompt.ts';
import { readIds } from '../../../src/cli/terminal/session-ids.ts';
import { readMessage, stdinKind } from '../../../src/cli/terminal/stdin.ts';
import { writeTable } from '../../../src/cli/terminal/table.ts';
import { startTimer } from '../../../src/cli/terminal/timer.ts';

const { env } = process;
const [word = '', argument = ''] = process.argv.slice(2);
const stdout = createOutput(directStream(1, process.platform, () => process.stdout) ?? process.stdout, {
  role: 'data',
  env,
  noColor: false,
  signal: new AbortController().signal,
});
const stderr = createOutput(process.stderr, {
  role: 'talk',
  env,
  noColor: false,
  signal: new AbortController().signal,
});
const interruption = new AbortController();
const openStdin = () => process.stdin;
const job = { suspend: () => Promise.resolve() };
const reading = {
  open: openStdin,
  awaited: 'text',
  skipHint: '-n skips it',
  stderr,
  startTimer,
  signal: interruption.signal,
};
const limit = 1024 * 1024;

const words: Readonly<Record<string, () => Promise<void>>> = {
  /** The number of chunks of 64 KiB. */
  async pour() {
    let peak = 0;
    for (let part = 0; part < Number(argument); part++) {
      const written = stdout.write(`${part % 10}`.repeat(64 * 1024));
      peak = Math.max(peak, process.stdout.writableLength);
      await written;
    }
    await stdout.finish();
    await stderr.write(`${peak}`);
    process.exit(0);
  },
  /** The number of lines, each written separately. */
  async lines() {
    for (let line = 1; line <= Number(argument); line++) await stdout.write(`${line}\n`);
    await stdout.finish();
  },
  async endless() {
    let lines = 0;
    while (!stdout.gone.aborted) await stdout.write(`line ${++lines}\n`);
    await stdout.finish();
    await stderr.write('the reader went away');
  },
  async untrusted() {
    for (const output of [stdout, stderr]) {
      const writer = output.untrusted();
      for (const piece of JSON.parse(argument)) await writer.write(piece);
      await writer.endLine();
    }
  },
  async styled() {
    await stdout.write((await stdout.style()).red('red'));
  },
  async kind() {
    await stdout.write(stdinKind());
  },
  async message() {
    await stdout.write(await readMessage(reading, limit));
    await stdout.finish();
  },
  async ids() {
    const file = join(tmpdir(), `parley-ids-${process.pid}`);
    const list = new IdList({
      open: () => openSync(file, 'ax+'),
      failure: (error) => error,
      random: Math.random,
    });
    let duplicates = 0;
    await readIds(reading, (id) => {
      const isNew = list.add(id);
      if (!isNew) duplicates += 1;
      return isNew;
    });
    rmSync(file, { force: true });
    const megabytes = process.memoryUsage().rss / 1024 / 1024;
    await stdout.write(JSON.stringify({ count: list.count, duplicates, megabytes }));
  },
  async stopped() {
    startTimer(100, () => interruption.abort(new Interruption('SIGINT')));
    await readMessage(reading, limit);
  },
  async table() {
    const columns = [
      { title: 'ID', value: (row: readonly string[]) => row[0] ?? '' },
      { title: 'TITLE', value: (row: readonly string[]) => row[1] ?? '', flexible: true },
    ];
    await writeTable(stdout, columns, JSON.parse(argument));
  },
  async ask() {
    const prompting = { allowed: true, openStdin, stderr, signal: interruption.signal, job };
    await stdout.write(`answer: ${await confirm('Delete \x1b[2J it?', '--yes', prompting)}\n`);
  },
  /** Waits until a key is typed. */
  async wait() {
    const sign = showWaiting('Waiting for eliza', { stderr, options: { quiet: false } });
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.destroy();
    sign.stop();
    await stdout.write('done\n');
  },
};

try {
  await words[word]?.();
} catch (error) {
  const { name, message, code = '' } = error as Error & { readonly code?: string };
  await stderr.write(`${name} ${code} ${message}`);
  process.exitCode = error instanceof Interruption ? 130 : 2;
}
