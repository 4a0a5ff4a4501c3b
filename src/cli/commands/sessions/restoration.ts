// What `parley sessions restore` does: it brings back the sessions of some ids, or undoes a batch of any kind.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { batchKinds, inverseTags, type OrderKind } from '../../session-batch/batch-kind.ts';
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
  sameCommand,
} from './batch.ts';
import { collectIds, newDraft } from './draft.ts';
import { ordering, restoring } from './operations.ts';
import { isRetentionBatch, restoreRetentionBatch, retentionBatches } from './retention-batches.ts';

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
  if (isRetentionBatch(batch)) return restoreRetentionBatch(batch, context);
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireOwner((await batchOwner(context)).owner);
    const total = known.count('done');
    const status =
      known.action.kind === 'delete'
        ? await restoreAll({ entries: known.entries('done'), total, verbose }, context)
        : await undoOrdering(known, verbose, context);
    if (status === exitDone) journal.recordRestored(total, context.host.now());
    return status;
  } finally {
    journal.close();
  }
}

/** Throws `USAGE` if there is none. */
async function lastBatch(context: CliContext): Promise<string> {
  const { owner } = await batchOwner(context);
  const [expired] = (await retentionBatches(context)).filter(
    ({ project_id, restored_at }) => project_id === owner.project_id && restored_at === null,
  );
  const said = async (batch: string, made_at: string, done: string, sessions: number) => {
    const time = timesIn(context.stderr, context.host.now())(made_at);
    await context.say(`The batch ${batch} (${time}) has ${done} ${counted(sessions, 'session')}.`);
    return batch;
  };
  for (const known of knownBatches(context.host.dataDirectory, () => {})) {
    const sessions = known.count('done');
    if (!known.isOf(owner) || known.restored !== null || sessions === 0) continue;
    const { batch, made_at } = known.seal;
    if (expired !== undefined && expired.begun_at > made_at) break;
    return said(batch, made_at, batchKinds[known.action.kind].done, sessions);
  }
  if (expired !== undefined) return said(expired.batch, expired.begun_at, 'expired', expired.expired);
  throw new ParleyError('USAGE', 'No batch here has changed sessions that were not restored yet.', {
    hint: 'Nothing was done. All batches: parley sessions batches',
  });
}

/** Gives each session what the batch took from it, and takes what the batch gave it. */
async function undoOrdering(known: KnownBatch, verbose: boolean, context: CliContext): Promise<number> {
  const { kind, tags } = known.action;
  if (kind === 'delete') return exitDone;
  const { batch } = known.seal;
  if (known.count('doubtful') > 0) {
    throw new ParleyError(
      'USAGE',
      `What the batch ${batch} has changed is not known yet; nothing was done.`,
      {
        hint: `It was stopped in the middle of a call. Finish it first: ${sameCommand(`sessions ${kind} --resume ${batch}`, context.options)}`,
      },
    );
  }
  let status: number = exitDone;
  for (const change of known.changes) {
    const inverse = kind === 'tag' && tags !== null ? inverseTags(tags, change.split(',')) : noTags;
    const ids = { entries: known.changedBy(change), total: known.countChangedBy(change), verbose };
    const end = await runOver(
      ordering(batchKinds[kind].undo as OrderKind, inverse),
      { ...ids, journal: null, concurrency: defaultConcurrency },
      context,
    );
    status = Math.max(status, endStatus(end, false));
  }
  if (known.changes.length === 0) await context.say('That batch has changed nothing: all was so before.');
  return status;
}

const noTags = { add: [], remove: [] };

async function restoreAll(
  given: Pick<BatchIds, 'entries' | 'total'> & { readonly verbose: boolean },
  context: CliContext,
): Promise<number> {
  const ids = { ...given, journal: null, concurrency: defaultConcurrency };
  return endStatus(await runOver(restoring, ids, context), false);
}
