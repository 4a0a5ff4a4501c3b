// Names the process that writes a part in the name of the part, and removes the parts that killed processes have left. A part is the file of
// AtomicFile before it gets its final name.
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessTable, processIdentity } from './process-identity.ts';

/** A part of an unknown process (of another machine, or from before a restart) is removed if it was not changed for this time (ms). */
const unknownMs = 24 * 60 * 60 * 1000;
/** The pid, the start time, and a hash of the machine. */
const nameForm = /\.parley\.(\d+)\.(\d+|-)\.([0-9a-f]{12})\.[0-9a-z]+\.part$/;

export class PartOwner {
  readonly #now: () => number;
  readonly #isRunning: (pid: string, start: string, machine: string) => boolean | null;
  readonly #cleaned = new Set<string>();
  /** An addition to the name of a part, which names this process. */
  readonly name: string;

  constructor({ processes, now }: { readonly processes: ProcessTable; readonly now: () => number }) {
    const identity = processIdentity(processes);
    const [pid = '', start = '', ...rest] = identity.name.split(' ');
    const machine = rest.join(' ');
    const hash = createHash('sha256').update(machine).digest('hex').slice(0, 12);
    this.name = `parley.${pid}.${start}.${hash}`;
    this.#now = now;
    this.#isRunning = (pid, start, ofMachine) =>
      ofMachine === hash ? identity.stateOf(`${pid} ${start} ${machine}`) === 'running' : null;
  }

  /** Removes the parts that killed processes have left in a directory, once. A part that cannot be removed is no failure. */
  removeLeftParts(directory: string): void {
    if (this.#cleaned.has(directory)) return;
    this.#cleaned.add(directory);
    try {
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        if (this.#isLeft(name, path)) rmSync(path, { force: true });
      }
    } catch {
      return;
    }
  }

  #isLeft(name: string, path: string): boolean {
    const [, pid, start, machine] = nameForm.exec(name) ?? [];
    if (pid === undefined || start === undefined || machine === undefined) return false;
    const isRunning = this.#isRunning(pid, start, machine);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (isRunning === true || status?.isFile() !== true) return false;
    return isRunning === false || status.mtimeMs < this.#now() - unknownMs;
  }
}
