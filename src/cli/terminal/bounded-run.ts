// Work that holds this thread until it is done, and may never be: Ctrl-C ends it all the same, and so does time.
import { createContext, runInContext } from 'node:vm';
import { Interruption } from '../interruption.ts';

/** The work took all of its time. */
export class TimeUsedUp extends Error {
  override readonly name = 'TimeUsedUp';
}

/** What `work` gives. Meanwhile no handler of a signal runs: one for Ctrl-C is Node's own watch, which throws an `Interruption`. */
export function runBounded<T>(work: () => T, milliseconds: number): T {
  try {
    return runInContext('work()', createContext({ work }), { breakOnSigint: true, timeout: milliseconds });
  } catch (error) {
    // An `Error` of the other context: none of this one's.
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
    if (code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw new Interruption('SIGINT');
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new TimeUsedUp(`It took longer than ${milliseconds / 1000} s`);
    throw error;
  }
}
