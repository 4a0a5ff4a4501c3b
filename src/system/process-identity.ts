// A unique name for this process, and the state of the process with such a name.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { readStat } from './process-stat.ts';

export interface ProcessIdentity {
  /** One line. No two processes have the same name. */
  readonly name: string;
  /** `unknown`: a process of another machine or container, or a text that names no process. */
  stateOf(name: string): 'running' | 'gone' | 'unknown';
}

/** The operating system's information about processes. */
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
      // A process with another start time has reused the pid.
      const isAnother = stat !== null && other !== name(pid);
      return table.isRunning(pid) && !isAnother && !stat?.hasEnded ? 'running' : 'gone';
    },
  };
}

/** A pid is unique only until the machine restarts, and only within a namespace (each container has its own). */
function machineName(): string {
  try {
    const run = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${run} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** True for the name of a process that ran before this machine was started last. Both names must be of this machine. */
export function isOfEarlierBoot(name: string, own: ProcessIdentity): boolean {
  const [boot, ownBoot] = [bootOf(name), bootOf(own.name)];
  return boot !== null && ownBoot !== null && boot !== ownBoot;
}

/** The boot id in a name. Null for a name from a system without such an id. */
function bootOf(name: string): string | null {
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(name)?.[0] ?? null;
}

/** `-` if the system does not report the start time. */
function startTime(pid: number): string {
  return readStat(pid)?.startTime ?? '-';
}
