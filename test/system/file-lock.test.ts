// The lock between processes, and what becomes of one whose holder is gone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdFileLock, withFileLock } from '../../src/system/file-lock.ts';
import { bundleWorker, type WorkerBundle } from '../config/worker-bundle.ts';
import { locks } from '../support/locks.ts';

let worker: WorkerBundle;
beforeAll(async () => {
  worker = await bundleWorker();
});
afterAll(() => worker.remove());

const lockIn = (directory: string, waitMs = 10_000) => ({ path: join(directory, 'lock'), locks, waitMs });
const busy = expect.objectContaining({
  code: 'STORE_BUSY',
  message: 'Another process of Parley is working on the thing.',
});

/** A process that holds the lock until it is killed. */
async function holderOf(path: string) {
  const child = spawn(process.execPath, [worker.path, 'hold', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    stop: () => child.kill('SIGSTOP'),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('a lock is held while the action runs, also where that throws, and leaves an empty, private file', async () => {
  const directory = worker.directory();
  const lock = lockIn(directory, 0);
  const take = await locks();
  expect(await withFileLock(lock, () => take(lock.path))).toBe(null);
  const failing = withFileLock(lock, () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  (await holdFileLock(lock, 'the thing'))();
  expect(readdirSync(directory)).toEqual(['lock']);
  expect(statSync(lock.path)).toMatchObject({ size: 0, mode: 0o100600 });
});

test('a lock that is held for a run refuses others nearly at once, until it is released', async () => {
  const lock = lockIn(worker.directory());
  const letGo = await holdFileLock(lock, 'the thing');
  await expect(holdFileLock(lock, 'the thing')).rejects.toEqual(busy);
  letGo();
  (await holdFileLock(lock, 'the thing'))();
});

test('a lock is released only by its holder, and not by an earlier one', async () => {
  const lock = lockIn(worker.directory());
  const before = await holdFileLock(lock, 'the thing');
  before();
  const letGo = await holdFileLock(lock, 'the thing');
  before();
  await expect(holdFileLock(lock, 'the thing')).rejects.toEqual(busy);
  letGo();
});

test('the lock of a stopped process is held, and is free when the process is killed', async () => {
  const lock = lockIn(worker.directory());
  const holder = await holderOf(lock.path);
  holder.stop();
  await expect(holdFileLock(lock, 'the thing')).rejects.toEqual(busy);
  await expect(withFileLock({ ...lock, waitMs: 50 }, () => 'taken')).rejects.toMatchObject({
    code: 'STORE_BUSY',
    message: expect.stringContaining(lock.path),
  });
  await holder.kill();
  expect(existsSync(lock.path)).toBe(true);
  (await holdFileLock(lock, 'the thing'))();
});

test('a lock that becomes free within the wait is taken, and a jump of the clock has no effect', async () => {
  const lock = lockIn(worker.directory());
  const order: string[] = [];
  const letGo = await holdFileLock(lock, 'the thing');
  const waiting = [1, 2, 3].map((name) => withFileLock(lock, () => order.push(`takes ${name}`)));
  const { now } = Date;
  Date.now = () => now() + 3_600_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  Date.now = () => now() - 3_600_000;
  order.push('lets go');
  letGo();
  await Promise.all(waiting);
  Date.now = now;
  expect(order.toSorted()).toEqual(['lets go', 'takes 1', 'takes 2', 'takes 3']);
  expect(order[0]).toBe('lets go');
});

test('six processes, some of which are killed, never hold the lock at the same time', async () => {
  const directory = worker.directory();
  const log = join(directory, 'log');
  writeFileSync(log, '');
  const words = ['take', join(directory, 'lock'), log, '15'];
  const runs = Array.from({ length: 6 }, () =>
    execa(process.execPath, [worker.path, ...words], { reject: false }),
  );
  const ended = Promise.all(runs);
  await expect.poll(() => readFileSync(log, 'utf8').length).toBeGreaterThan(0);
  for (const victim of runs.slice(0, 2)) {
    await new Promise((resolve) => setTimeout(resolve, 3 + Math.random() * 15));
    victim.kill('SIGKILL');
  }
  await ended;
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  // If one takes the lock after another that has not released it, that one was killed: it writes no more.
  const met = lines.filter((line, at) => {
    const [pid] = line.split(' ');
    return (
      line.endsWith('takes') &&
      lines[at + 1] !== `${pid} gives` &&
      lines.slice(at + 1).some((other) => other.startsWith(`${pid} `))
    );
  });
  expect(met).toEqual([]);
  expect(lines.filter((line) => line.endsWith('gives')).length).toBeGreaterThanOrEqual(4 * 15);
}, 30_000);

test('a path that cannot be locked is refused by name, with the remedy', async () => {
  const lock = lockIn(worker.directory());
  writeFileSync(lock.path, 'a text, by some other program');
  await expect(holdFileLock(lock, 'the thing')).rejects.toMatchObject({
    code: 'CONFIG',
    message: `The lock ${lock.path} cannot be taken (SQLITE_NOTADB).`,
    hint: expect.stringContaining('remove it'),
  });
  const other = { ...lock, path: join(worker.directory(), 'directory') };
  mkdirSync(other.path);
  await expect(holdFileLock(other, 'the thing')).rejects.toMatchObject({ code: 'CONFIG' });
  const nowhere = { ...lock, path: join(other.path, 'none', 'lock') };
  await expect(holdFileLock(nowhere, 'the thing')).rejects.toMatchObject({
    code: 'CONFIG',
    message: `${nowhere.path} cannot be written (ENOENT).`,
  });
  const deep = join(other.path, ...new Array(6).fill('d'.repeat(90)));
  mkdirSync(deep, { recursive: true });
  await expect(holdFileLock({ ...lock, path: join(deep, 'lock') }, 'the thing')).rejects.toMatchObject({
    code: 'CONFIG',
    hint: expect.stringMatching(/no path of more than 504 bytes.* a shorter directory/),
  });
});
