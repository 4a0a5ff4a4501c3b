// Undoes an import: deletes the sessions that it created, even if they have grown since. They can be restored by their ids.
import type { CliContext } from '../../context.ts';
import { exitDone } from '../../exit-codes.ts';
import {
  createdBy,
  ImportJournal,
  knownImports,
  readImport,
  requireOwner,
} from '../../session-batch/import-journal.ts';
import { batchOwner, defaultConcurrency, endStatus, runOver } from './batch.ts';
import { deletion } from './operations.ts';

export async function undoImport(batch: string, verbose: boolean, context: CliContext): Promise<number> {
  const { dataDirectory, now } = context.host;
  const journal = await ImportJournal.open(dataDirectory, batch, context.host);
  try {
    const known = readImport(dataDirectory, batch);
    requireOwner(known.seal, (await batchOwner(context)).owner);
    const ids = createdBy(known, knownImports(dataDirectory));
    const entries = ids.map((id, number) => ({ id, number }));
    const work = { entries, total: ids.length, journal: null, concurrency: defaultConcurrency, verbose };
    const end = await runOver(deletion, work, context);
    // Sessions that were not created before the import was stopped, or were deleted since, are not found.
    const status = endStatus(end, true);
    if (status === exitDone) journal.recordRestored(end.report.progress.count('deleted'), now());
    return status;
  } finally {
    journal.close();
  }
}
