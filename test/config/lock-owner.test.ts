// Names of processes: which of them are of an earlier start of this machine.
import { expect, it } from 'vitest';
import { isOfEarlierBoot, lockOwner } from '../../src/config/lock-owner.ts';

const owner = lockOwner({ pid: process.pid, isRunning: () => true });
const boot = /[0-9a-f-]{36}/.exec(owner.name)?.[0];

it.runIf(boot !== undefined)('a name tells of an earlier start of the machine', () => {
  const earlier = owner.name.replace(boot ?? '', '01234567-89ab-cdef-0123-456789abcdef');
  expect([earlier, owner.name].map((name) => isOfEarlierBoot(name, owner))).toEqual([true, false]);
});

it.each(['import', '', '12 34 elsewhere'])('the name %j does not', (name) => {
  expect(isOfEarlierBoot(name, owner)).toBe(false);
});
