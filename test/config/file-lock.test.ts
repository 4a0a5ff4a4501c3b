// The lock between processes, and what becomes of one whose owner is gone.
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileLock, holdFileLock, withFileLock } from '../../src/config/file-lock.ts';
import { type LockOwner, lockOwner } from '../../src/config/lock-owner.ts';
import { processTable } from './process-table.ts';
import { bundleWorker, type WorkerBundle } from './worker-bundle.ts';

let worker: WorkerBundle;
beforeAll(async () => {
  worker = await bundleWorker();
});
afterAll(() => worker.remove());

const owner = lockOwner(processTable);

function lockIn(directory: string, now: () => number = Date.now): FileLock {
  return { path: join(directory, 'lock'), owner, now };
}

/** A clock that goes a second further each time that it is read. */
function fastClock(start: number): () => number {
  let time = start;
  return () => {
    time += 1000;
    return time;
  };
}

async function goneName(): Promise<string> {
  const { stdout } = await execa(process.execPath, [worker.path, 'name']);
  return stdout;
}

test('the lock is there while it is held, names its holder, and is gone after', async () => {
  const lock = lockIn(worker.directory());
  const held = await withFileLock(lock, () => readFileSync(lock.path, 'utf8'));
  expect(held).toBe(owner.name);
  expect(existsSync(lock.path)).toBe(false);
});

test('a process that is killed at any moment leaves no lock without its name', async () => {
  const directory = worker.directory();
  const path = join(directory, 'lock');
  for (let round = 0; round < 40; round += 1) {
    const taking = execa(process.execPath, [worker.path, 'take', path], { reject: false });
    await once(taking.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, round % 7));
    taking.kill('SIGKILL');
    await taking;
    if (existsSync(path)) expect(readFileSync(path, 'utf8')).not.toBe('');
    holdFileLock(lockIn(directory), 'the thing')();
  }
});

test('a lock that is held for a run refuses others at once, also after a long time, until it is let go', () => {
  const lock = lockIn(worker.directory());
  const letGo = holdFileLock(lock, 'the thing');
  utimesSync(lock.path, 0, 0);
  expect(() => holdFileLock(lock, 'the thing')).toThrow(
    expect.objectContaining({ code: 'STORE_BUSY', message: 'Another parley is at work on the thing.' }),
  );
  letGo();
  expect(existsSync(lock.path)).toBe(false);
  holdFileLock(lock, 'the thing')();
});

test('a lock that was held for a run by a process that is gone is free', async () => {
  const lock = lockIn(worker.directory());
  writeFileSync(lock.path, await goneName());
  const letGo = holdFileLock(lock, 'the thing');
  expect(readFileSync(lock.path, 'utf8')).toBe(owner.name);
  letGo();
});

test('the lock is given back when the action throws', async () => {
  const lock = lockIn(worker.directory());
  const failing = withFileLock(lock, () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(existsSync(lock.path)).toBe(false);
});

test('the lock of a running process is waited for, refused after ten seconds by name, and stands', async () => {
  const directory = worker.directory();
  const lock = lockIn(directory, fastClock(Date.now() + 3_600_000));
  writeFileSync(lock.path, owner.name);
  const taking = withFileLock(lock, () => 'taken');
  await expect(taking).rejects.toMatchObject({
    code: 'STORE_BUSY',
    message: expect.stringContaining(lock.path),
    hint: expect.stringContaining(`rm -f ${lock.path}`),
  });
  expect(readFileSync(lock.path, 'utf8')).toBe(owner.name);
});

test('a lock that comes free within the wait is taken', async () => {
  const directory = worker.directory();
  let step = 0;
  const first = withFileLock(lockIn(directory), () => {
    step += 1;
    return step;
  });
  const second = withFileLock(lockIn(directory), () => {
    step += 1;
    return step;
  });
  expect(await Promise.all([first, second])).toEqual([1, 2]);
});

test('the lock of a process that is gone is taken over, however young it is', async () => {
  const lock = lockIn(worker.directory());
  writeFileSync(lock.path, await goneName());
  expect(await withFileLock(lock, () => readFileSync(lock.path, 'utf8'))).toBe(owner.name);
});

test.each(['', '7 1 another-machine', '{}'])(
  'a lock of the unknown owner %j is left for a minute, then taken over',
  async (name) => {
    const lock = lockIn(worker.directory());
    writeFileSync(lock.path, name);
    await expect(withFileLock({ ...lock, now: fastClock(Date.now()) }, () => 'taken')).rejects.toMatchObject({
      code: 'STORE_BUSY',
    });
    const past = new Date(Date.now() - 61_000);
    utimesSync(lock.path, past, past);
    expect(await withFileLock(lock, () => 'taken')).toBe('taken');
  },
);

test('a lock that another took over in the very moment of its removal stands', async () => {
  const lock = lockIn(worker.directory(), fastClock(Date.now()));
  writeFileSync(lock.path, 'gone');
  const late: LockOwner = {
    name: 'late',
    stateOf(name) {
      if (name === 'gone') writeFileSync(lock.path, 'quick');
      return name === 'gone' ? 'gone' : 'running';
    },
  };
  await expect(withFileLock({ ...lock, owner: late }, () => 'taken')).rejects.toMatchObject({
    code: 'STORE_BUSY',
  });
  expect(readFileSync(lock.path, 'utf8')).toBe('quick');
});

test('a lock whose removal is under way in another process is not removed too, and the error names both files', async () => {
  const lock = lockIn(worker.directory(), fastClock(Date.now()));
  writeFileSync(lock.path, await goneName());
  writeFileSync(`${lock.path}.removal`, owner.name);
  await expect(withFileLock(lock, () => 'taken')).rejects.toMatchObject({
    code: 'STORE_BUSY',
    hint: expect.stringContaining(`rm -f ${lock.path} ${lock.path}.removal`),
  });
  expect(existsSync(lock.path)).toBe(true);
});

test('a process that is killed while it removes a lock leaves nothing that stands in the way', async () => {
  const lock = lockIn(worker.directory());
  const gone = await goneName();
  writeFileSync(lock.path, gone);
  writeFileSync(`${lock.path}.removal`, gone);
  holdFileLock(lock, 'the thing')();
  expect(readdirSync(dirname(lock.path))).toEqual([]);
});

test('a removal that another began in the very moment of that is left to it', async () => {
  const lock = lockIn(worker.directory());
  const guard = `${lock.path}.removal`;
  writeFileSync(lock.path, 'gone');
  writeFileSync(guard, 'gone too');
  const late: LockOwner = {
    name: 'late',
    stateOf(name) {
      if (name === 'gone too') writeFileSync(guard, 'quick');
      return name === 'quick' ? 'running' : 'gone';
    },
  };
  expect(() => holdFileLock({ ...lock, owner: late }, 'the thing')).toThrow('Another parley is at work');
  expect(readFileSync(guard, 'utf8')).toBe('quick');
  expect(readdirSync(dirname(lock.path)).sort()).toEqual(['lock', 'lock.removal']);
});

test('four processes that keep finding abandoned locks never hold one together', async () => {
  const directory = worker.directory();
  const gone = await goneName();
  const words = ['abandon', join(directory, 'lock'), join(directory, 'marker'), gone, '100'];
  const runs = await Promise.all([1, 2, 3, 4].map(() => execa(process.execPath, [worker.path, ...words])));
  expect(runs.map((run) => run.stdout)).toEqual(Array(4).fill('never met another'));
});

test('a process knows itself as running, and one that ended as gone', async () => {
  expect(owner.stateOf(owner.name)).toBe('running');
  expect(owner.stateOf(await goneName())).toBe('gone');
});

test.skipIf(process.platform !== 'linux')(
  'a process that has ended is gone, also before its parent has asked about it',
  async () => {
    // sleep takes the place of the shell and never asks about the child that it inherits.
    const parent = execa('sh', ['-c', '(exit 0) & echo $!; exec sleep 60']);
    parent.catch(() => {});
    try {
      const pid = Number((await once(parent.stdout, 'data')).toString());
      const { name } = lockOwner({ pid, isRunning: () => true });
      await expect.poll(() => owner.stateOf(name)).toBe('gone');
    } finally {
      parent.kill();
    }
  },
);

test('a pid that has come back to another process is gone, and a name of another machine is unknown', () => {
  const [pid, , ...machine] = owner.name.split(' ');
  const table = { pid: process.pid, isRunning: () => true };
  expect(lockOwner(table).stateOf(`${pid} 1 ${machine.join(' ')}`)).toBe('gone');
  expect(owner.stateOf(`${pid} 1 elsewhere`)).toBe('unknown');
});
