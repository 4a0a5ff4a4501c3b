// Ends a process together with the processes that it has started, which the end of a shell does not end. A process group would need a new
// session, in which a program cannot ask its user at the terminal. On Windows only the process itself is ended.
import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readStat } from './process-stat.ts';

const pollMs = 50;

interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** True for a process whose parent has not yet collected its status. */
  readonly hasEnded: boolean;
}

/**
 * Asks all processes of the tree to end, and kills those that still run after `graceMs`. Must be called while the process runs: the children
 * of a process that has ended have another parent.
 */
export async function endTree(root: ChildProcess, graceMs: number, proc?: string): Promise<void> {
  const found = descendantsOf(root.pid, listProcesses(proc));
  root.kill('SIGTERM');
  signalAll('TERM', found);
  for (let waited = 0; waited < graceMs; waited += pollMs) {
    await delay(pollMs);
    const left = found.length === 0 ? [] : listProcesses(proc);
    if (hasEnded(root) && !left.some(({ pid, hasEnded }) => found.includes(pid) && !hasEnded)) return;
  }
  signalAll('KILL', [...found, ...descendantsOf(root.pid, listProcesses(proc))]);
  root.kill('SIGKILL');
}

/** From the files of Linux in `proc`, or from `ps` on other systems. Empty if there is neither. */
export function listProcesses(proc = '/proc'): readonly ListedProcess[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readListed(Number(name), proc));
  } catch {
    return listedByPs();
  }
}

/** Empty for a process that has ended meanwhile. */
function readListed(pid: number, proc: string): readonly ListedProcess[] {
  const stat = readStat(pid, proc);
  return stat === null ? [] : [{ pid, parent: stat.parent, hasEnded: stat.hasEnded }];
}

function listedByPs(): readonly ListedProcess[] {
  try {
    const text = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'stat='], { encoding: 'utf8' });
    return [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\S)/gm)].map(([, pid, parent, state]) => ({
      pid: Number(pid),
      parent: Number(parent),
      hasEnded: state === 'Z',
    }));
  } catch {
    return [];
  }
}

function descendantsOf(root: number | undefined, all: readonly ListedProcess[]): readonly number[] {
  const found = root === undefined ? [] : [root];
  for (const parent of found)
    found.push(...all.filter((listed) => listed.parent === parent).map(({ pid }) => pid));
  return found.slice(1);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Uses the shell, because only the entry points use `process`. */
function signalAll(signal: 'TERM' | 'KILL', pids: readonly number[]): void {
  if (pids.length > 0)
    execFile('/bin/sh', ['-c', 'kill -s "$0" "$@"', signal, ...pids.map(String)], () => {});
}
