// What `parley sessions restore` does: it brings back the sessions of some ids, or of a batch.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
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

export async function restoreSessions({ words, batch }: RestoreInput, context: CliContext): Promise<number> {
  if (batch !== null && words.length > 0) {
    throw new ParleyError('USAGE', 'Ids and --batch cannot be used together.', {
      hint: 'Nothing was done. Give ids, or --batch BATCH alone.',
    });
  }
  if (batch !== null) return restoreBatch(batch, context);
  const draft = newDraft(context);
  const { list } = draft;
  try {
    await collectIds(words, list, mostIds, context, 'deleted');
    list.complete();
    if (list.count === 1) return await runSingle(restoring, list, false, context);
    return await restoreAll(list.entries(), list.count, context);
  } finally {
    draft.close();
  }
}

async function restoreBatch(batch: string, context: CliContext): Promise<number> {
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireOwner((await batchOwner(context)).owner);
    return await restoreAll(known.entries('deleted'), known.count('deleted'), context);
  } finally {
    journal.close();
  }
}

async function restoreAll(entries: BatchIds['entries'], total: number, context: CliContext): Promise<number> {
  const ids = { entries, total, journal: null, concurrency: defaultConcurrency };
  return endStatus(await runOver(restoring, ids, context), false);
}
