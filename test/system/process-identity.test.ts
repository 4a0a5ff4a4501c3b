// What has become of a process, told by its name; and which names are of an earlier start of this machine.
import { once } from 'node:events';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { isOfEarlierBoot, processIdentity } from '../../src/system/process-identity.ts';
import { processTable } from '../support/process-table.ts';

const owner = processIdentity(processTable);

test('a process is running for itself, and one that has ended is gone', async () => {
  expect(owner.stateOf(owner.name)).toBe('running');
  const child = execa(process.execPath, ['-e', 'process.stdin.resume()']);
  const { name } = processIdentity({ pid: child.pid ?? 0, isRunning: () => true });
  expect(owner.stateOf(name)).toBe('running');
  child.stdin.end();
  await child;
  expect(owner.stateOf(name)).toBe('gone');
});

test.skipIf(process.platform !== 'linux')(
  'a process that has ended is gone, also before its parent has waited for it',
  async () => {
    // sleep replaces the shell and never waits for the child that it inherits.
    const parent = execa('sh', ['-c', '(exit 0) & echo $!; exec sleep 60']);
    parent.catch(() => {});
    try {
      const pid = Number((await once(parent.stdout, 'data')).toString());
      const { name } = processIdentity({ pid, isRunning: () => true });
      await expect.poll(() => owner.stateOf(name)).toBe('gone');
    } finally {
      parent.kill();
    }
  },
);

test('a reused pid is gone, and a name of another machine is unknown', () => {
  const [pid, , ...machine] = owner.name.split(' ');
  const table = { pid: process.pid, isRunning: () => true };
  expect(processIdentity(table).stateOf(`${pid} 1 ${machine.join(' ')}`)).toBe('gone');
  expect(owner.stateOf(`${pid} 1 elsewhere`)).toBe('unknown');
});

const boot = /[0-9a-f-]{36}/.exec(owner.name)?.[0];

test.runIf(boot !== undefined)('a name of an earlier start of the machine is recognised', () => {
  const earlier = owner.name.replace(boot ?? '', '01234567-89ab-cdef-0123-456789abcdef');
  expect([earlier, owner.name].map((name) => isOfEarlierBoot(name, owner))).toEqual([true, false]);
});

test.each(['import', '', '12 34 elsewhere'])('the name %j is not recognised as such', (name) => {
  expect(isOfEarlierBoot(name, owner)).toBe(false);
});
