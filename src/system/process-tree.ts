// Ends a process together with the processes that it has started, which the end of a shell does not end. Only Linux lists them: elsewhere only
// the process itself is ended. A process group would need a new session, in which a program cannot ask its user at the terminal.
import { type ChildProcess, execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readStat } from './process-stat.ts';

const pollMs = 20;

/**
 * Asks all processes of the tree to end, and kills those that still run after `graceMs`. Must be called while the process runs: the children
 * of a process that has ended have another parent.
 */
export async function endTree(root: ChildProcess, graceMs: number): Promise<void> {
  const found = descendantsOf(root.pid);
  root.kill('SIGTERM');
  signalAll('TERM', found);
  const isOver = () => hasEnded(root) && found.every((pid) => readStat(pid)?.hasEnded !== false);
  for (let waited = 0; waited < graceMs; waited += pollMs) {
    if (isOver()) return;
    await delay(pollMs);
  }
  signalAll('KILL', [...found, ...descendantsOf(root.pid)]);
  root.kill('SIGKILL');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Empty on a system without /proc. */
function descendantsOf(root: number | undefined): readonly number[] {
  const children = new Map<number, number[]>();
  for (const pid of processes()) {
    const parent = readStat(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = (root !== undefined && children.get(root)) || [];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Uses the shell, because only the entry points use `process`. */
function signalAll(signal: 'TERM' | 'KILL', pids: readonly number[]): void {
  if (pids.length > 0)
    execFile('/bin/sh', ['-c', 'kill -s "$0" "$@"', signal, ...pids.map(String)], () => {});
}
