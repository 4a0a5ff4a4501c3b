// Removes the journals of erased sessions at the end of a purge. The erasure is irreversible by then, so a journal that stays is reported beside
// the receipt, and not in place of it.
import type { Administration } from '../../../service/administration.ts';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { reportInWords } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { type ErasedSessions, removeJournals } from '../../session-batch/journal-removal.ts';

export interface PurgedJournals {
  /** The names of the batches whose journals were removed. */
  readonly removed: readonly string[];
  /** Reports the journals that could not be removed. Resolves to an exit status. */
  report(): Promise<number>;
}

export async function removePurgedJournals(
  selection: Pick<ErasedSessions, 'project_id' | 'before'>,
  administration: Administration,
  context: CliContext,
): Promise<PurgedJournals> {
  const failures: { readonly path: string; readonly error: unknown }[] = [];
  const removed = await removeJournals(context.host.dataDirectory, {
    ...selection,
    origin: context.target.origin,
    holdsAny: (project_id, ids) => administration.holdsAny(project_id, ids),
    locks: context.host.locks,
    onFailure: (path, error) => failures.push({ path, error }),
  });
  return {
    removed,
    async report() {
      for (const { path, error: cause } of failures) {
        const message = `The sessions are erased, but ${path} could not be removed, and may contain their ids.`;
        const hint = 'Remove it, or make it writable and run the command again.';
        await reportInWords(new ParleyError('CONFIG', message, { hint, cause }), context);
      }
      return failures.length === 0 ? exitDone : exitSomeFailed;
    },
  };
}
