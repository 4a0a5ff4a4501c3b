// A name for this process that no other has, and what has become of the process of such a name.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { type ProcessStat, parseProcessStat } from './process-stat.ts';

export interface ProcessIdentity {
  /** One line. No two processes have the same. */
  readonly name: string;
  /** `unknown`: a process of another machine or container, or not the name of a process. */
  stateOf(name: string): 'running' | 'gone' | 'unknown';
}

export interface ProcessTable {
  readonly pid: number;
  /** True also for a process of another user. */
  isRunning(pid: number): boolean;
}

export function processIdentity(table: ProcessTable): ProcessIdentity {
  const machine = machineName();
  const name = (pid: number) => `${pid} ${startTime(pid)} ${machine}`;
  return {
    name: name(table.pid),
    stateOf(other) {
      const pid = Number(/^([1-9]\d*) /.exec(other)?.[1]);
      if (Number.isNaN(pid) || !other.endsWith(` ${machine}`)) return 'unknown';
      const stat = readStat(pid);
      // A pid that has come back belongs to a process of another start time.
      const isAnother = stat !== null && other !== name(pid);
      return table.isRunning(pid) && !isAnother && !stat?.hasEnded ? 'running' : 'gone';
    },
  };
}

/** Pids mean something within one run of one machine, and there within one namespace: containers have their own. */
function machineName(): string {
  try {
    const run = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${run} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Whether a name is of a process that ran before this machine was started last: both names must be of this machine. */
export function isOfEarlierBoot(name: string, own: ProcessIdentity): boolean {
  const [boot, ownBoot] = [bootOf(name), bootOf(own.name)];
  return boot !== null && ownBoot !== null && boot !== ownBoot;
}

/** The id of the boot in a name; null in a name of a system that has none. */
function bootOf(name: string): string | null {
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(name)?.[0] ?? null;
}

/** `-` where the system does not tell. */
function startTime(pid: number): string {
  return readStat(pid)?.startTime ?? '-';
}

function readStat(pid: number): ProcessStat | null {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}
