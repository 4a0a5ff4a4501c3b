// Runs `parley sessions restore`: restores deleted sessions by their ids, or undoes a batch of any kind.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { batchKinds, inverseTags, type OrderKind } from '../../session-batch/batch-kind.ts';
import { createdBy, isImportBatch, knownImports, sharedIds } from '../../session-batch/import-journal.ts';
import { type BatchOwner, isSameOwner } from '../../session-batch/journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { knownBatches } from '../../session-batch/known-batches.ts';
import { timesIn } from '../../shown-time.ts';
import { requireYes } from './action-plan.ts';
import {
  type BatchIds,
  batchOwner,
  commandAtTarget,
  defaultConcurrency,
  endStatus,
  runOver,
  runSingle,
} from './batch.ts';
import { batchTime, collectIds, newDraft } from './draft.ts';
import { areOnStdin } from './ids.ts';
import { ordering, restoring } from './operations.ts';
import { isRetentionBatch, restoreRetentionBatch, retentionBatches } from './retention-batches.ts';

export interface RestoreFlags {
  /** The batch to undo instead of ids. */
  readonly batch?: string;
  /** True to undo the last batch of this target and project. Batches that were undone already do not count. */
  readonly last?: boolean;
  /** True to undo a last batch that is an import, which deletes sessions, without asking. */
  readonly yes?: boolean;
  /** Prints a result line for each id, even at a terminal. */
  readonly verbose?: boolean;
  /** True to reject if the only session is missing, for a caller that reports failures itself. */
  readonly throwsMissing?: boolean;
}

const maxIds = 10_000_000;
/** How long (ms) a command may wait for its confirmation. */
const longestQuestionMs = 24 * 60 * 60 * 1000;
/** How far (ms) the clock of a store, which dates the runs of retention, may be ahead. */
const clockToleranceMs = 60 * 1000;

/** `words` are ids, or `-` for stdin. */
export async function restoreSessions(
  words: readonly string[],
  { batch, last, verbose = false, yes = false, throwsMissing = false }: RestoreFlags,
  context: CliContext,
): Promise<number> {
  if ([words.length > 0, batch !== undefined, last].filter(Boolean).length > 1) {
    throw new ParleyError('USAGE', 'Ids, --batch and --last cannot be used together.', {
      hint: 'Nothing was done. Use ids, or --batch BATCH, or --last alone.',
    });
  }
  if (last) {
    const found = await lastBatch(context);
    // A deletion of one session is no batch, so the last one may be an import that the user does not think of.
    if (!yes && isImportBatch(context.host.dataDirectory, found))
      await requireYes('delete', 'the sessions that this import created', context);
    return restoreBatch(found, verbose, context);
  }
  if (batch !== undefined) return restoreBatch(batch, verbose, context);
  const draft = newDraft(context);
  const { list } = draft;
  try {
    await collectIds(list, { words, max: maxIds, state: 'deleted' }, context);
    list.complete();
    if (list.count === 0) {
      await context.say('Standard input has no ids: nothing was restored.');
      return exitDone;
    }
    if (list.count === 1) {
      const missing = throwsMissing ? 'thrown' : 'reported';
      return await runSingle(restoring, list, { missing, isFromStdin: areOnStdin(words, context) }, context);
    }
    return await restoreAll({ entries: list.entries(), total: list.count, verbose }, context);
  } finally {
    draft.close();
  }
}

async function restoreBatch(batch: string, verbose: boolean, context: CliContext): Promise<number> {
  if (isImportBatch(context.host.dataDirectory, batch)) {
    const { undoImport } = await import('./import-undo.ts');
    return undoImport(batch, verbose, context);
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

/** The last batch of any kind that can be undone. Throws `USAGE` if there is none, or if its time is in the future. */
async function lastBatch(context: CliContext): Promise<string> {
  const { owner } = await batchOwner(context);
  const { dataDirectory, now } = context.host;
  const [expired] = (await retentionBatches(context)).filter(
    ({ project_id, restored_at }) => project_id === owner.project_id && restored_at === null,
  );
  const [last] = [
    lastChange(dataDirectory, owner),
    lastImport(dataDirectory, owner),
    expired && { ...expired, made_at: expired.begun_at, done: 'expired', sessions: expired.expired },
  ]
    .filter((found) => found !== null && found !== undefined)
    .toSorted((one, other) => Date.parse(other.made_at) - Date.parse(one.made_at));
  if (last === undefined) {
    throw new ParleyError('USAGE', 'There is no batch to undo.', {
      hint: 'Nothing was done. To list all batches: parley sessions batches',
    });
  }
  const time = timesIn(context.stderr, now())(last.made_at);
  if (Date.parse(last.made_at) > now() + clockToleranceMs) {
    throw new ParleyError('USAGE', `The clock was set back after batch ${last.batch} (${time}).`, {
      hint: 'It is unknown which batch is the last, so nothing was done. Use --batch BATCH. To list all batches: parley sessions batches',
    });
  }
  await context.say(`Batch ${last.batch} (${time}) ${last.done} ${counted(last.sessions, 'session')}.`);
  return last.batch;
}

function lastChange(dataDirectory: string, owner: BatchOwner) {
  let last: { batch: string; made_at: string; done: string; sessions: number } | null = null;
  for (const known of knownBatches(dataDirectory, () => {})) {
    const { batch, made_at } = known.seal;
    // A name has the time at which the command began, which may have waited for an answer until `made_at`.
    if (last !== null && batch < batchTime(Date.parse(last.made_at) - longestQuestionMs)) break;
    const sessions = known.done + known.doubtful;
    if (!isSameOwner(known.seal, owner) || known.restored !== null || sessions === 0) continue;
    if (last === null || Date.parse(made_at) > Date.parse(last.made_at))
      last = { batch, made_at, done: batchKinds[known.action.kind].done, sessions };
  }
  return last;
}

function lastImport(dataDirectory: string, owner: BatchOwner) {
  const all = knownImports(dataDirectory);
  const shared = sharedIds(all);
  return (
    all
      .filter(({ seal, restored }) => restored === null && isSameOwner(seal, owner))
      .map((known) => ({ ...known.seal, done: 'imported', sessions: createdBy(known, all, shared).length }))
      .filter(({ sessions }) => sessions > 0)
      .toSorted((one, other) => Date.parse(other.made_at) - Date.parse(one.made_at))[0] ?? null
  );
}

/** Reverses each change of the batch. */
async function undoOrdering(known: KnownBatch, verbose: boolean, context: CliContext): Promise<number> {
  const { kind, tags } = known.action;
  if (kind === 'delete') return exitDone;
  const { batch } = known.seal;
  if (known.count('doubtful') > 0) {
    throw new ParleyError(
      'USAGE',
      `Batch ${batch} was stopped during a call, so its changes are not fully known. Nothing was done.`,
      {
        hint: `Finish it first: ${commandAtTarget(`sessions ${kind} --resume ${batch}`, context.options)}`,
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
  if (known.changes.length === 0)
    await context.say('That batch changed nothing, so there is nothing to undo.');
  return status;
}

const noTags = { add: [], remove: [] };

async function restoreAll(
  sessions: Pick<BatchIds, 'entries' | 'total'> & { readonly verbose: boolean },
  context: CliContext,
): Promise<number> {
  const ids = { ...sessions, journal: null, concurrency: defaultConcurrency };
  return endStatus(await runOver(restoring, ids, context), false);
}
