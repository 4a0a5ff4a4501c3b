// What `parley sessions restore` does: it brings back the sessions of some ids, or of a batch.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { isImportBatch } from '../../session-batch/import-journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { knownBatches } from '../../session-batch/known-batches.ts';
import { timesIn } from '../../shown-time.ts';
import {
  type BatchIds,
  batchOwner,
  defaultConcurrency,
  endStatus,
  runOver,
  runSingle,
  type SessionOperation,
} from './batch.ts';
import { collectIds, newDraft } from './draft.ts';

export interface RestoreInput {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
  /** Is given instead of ids; null for none. */
  readonly batch: string | null;
  /** True: the last batch of this place and project, instead of ids. A batch that was restored already does not count. */
  readonly last: boolean;
  /** A result line for each id also at a terminal. */
  readonly verbose: boolean;
}

const mostIds = 10_000_000;

/** A server without batches has no restoring either. */
const restoring: SessionOperation<'restored'> = {
  done: 'restored',
  many: (backend) => async (call, ids) => (await backend.archive.restoreSessions(call, ids)).data.items,
  one: (backend) => async (call, id) => {
    await backend.archive.restoreSession(call, id);
    return { repeated: false };
  },
  goesSingly: false,
};

export async function restoreSessions(input: RestoreInput, context: CliContext): Promise<number> {
  const { words, batch, last, verbose } = input;
  if ([words.length > 0, batch !== null, last].filter(Boolean).length > 1) {
    throw new ParleyError('USAGE', 'Ids, --batch and --last cannot be used together.', {
      hint: 'Nothing was done. Give ids, or --batch BATCH, or --last alone.',
    });
  }
  if (last) return restoreBatch(await lastBatch(context), verbose, context);
  if (batch !== null) return restoreBatch(batch, verbose, context);
  const draft = newDraft(context);
  const { list } = draft;
  try {
    await collectIds(words, list, mostIds, context, 'deleted');
    list.complete();
    if (list.count === 1) return await runSingle(restoring, list, false, context);
    return await restoreAll({ entries: list.entries(), total: list.count, verbose }, context);
  } finally {
    draft.close();
  }
}

async function restoreBatch(batch: string, verbose: boolean, context: CliContext): Promise<number> {
  if (isImportBatch(context.host.dataDirectory, batch)) {
    const { takeBackImport } = await import('./import-undo.ts');
    return takeBackImport(batch, verbose, context);
  }
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireOwner((await batchOwner(context)).owner);
    const total = known.count('deleted');
    const status = await restoreAll({ entries: known.entries('deleted'), total, verbose }, context);
    if (status === exitDone) journal.recordRestored(total, context.host.now());
    return status;
  } finally {
    journal.close();
  }
}

/** Throws `USAGE` if there is none. */
async function lastBatch(context: CliContext): Promise<string> {
  const { owner } = await batchOwner(context);
  for (const known of knownBatches(context.host.dataDirectory, () => {})) {
    const sessions = known.count('deleted');
    if (!known.isOf(owner) || known.restored !== null || sessions === 0) continue;
    const { batch, made_at } = known.seal;
    const time = timesIn(context.stderr, context.host.now())(made_at);
    await context.say(`The batch ${batch} (${time}) has deleted ${counted(sessions, 'session')}.`);
    return batch;
  }
  throw new ParleyError('USAGE', 'No batch here has deleted sessions that were not restored yet.', {
    hint: 'Nothing was done. All batches: parley sessions batches',
  });
}

async function restoreAll(
  given: Pick<BatchIds, 'entries' | 'total'> & { readonly verbose: boolean },
  context: CliContext,
): Promise<number> {
  const ids = { ...given, journal: null, concurrency: defaultConcurrency };
  return endStatus(await runOver(restoring, ids, context), false);
}
