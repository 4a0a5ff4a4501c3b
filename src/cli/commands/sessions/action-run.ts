// Runs a batch of deletions or of another kind: collects the ids, asks for confirmation, seals a journal, and changes the sessions.
import { forgetCurrentSessions } from '../../../config/current-session.ts';
import type { CliContext } from '../../context.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { batchKinds } from '../../session-batch/batch-kind.ts';
import { type ItemResult, printsEachResult, writeResults } from '../../session-batch/batch-report.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { type ActionInput, collect, confirmBatch, confirmNamed, requireOneSource } from './action-plan.ts';
import { nothingDone, orWriteIfStopped, reportEnd, unknownOutcome } from './action-report.ts';
import { batchOwner, endStatus, type Missing, runOver, runSingle } from './batch.ts';
import { newDraft } from './draft.ts';
import { areOnStdin } from './ids.ts';
import { archivedNotice } from './matching.ts';
import { lookup, operationOf } from './operations.ts';
import { requireTags } from './required-tags.ts';

const resultsPerWrite = 1000;

export async function runAction(input: ActionInput, context: CliContext): Promise<number> {
  requireOneSource(input);
  if (input.resume !== undefined) return resumeBatch(input.resume, input, context);
  const { done } = batchKinds[input.kind];
  const operation = operationOf(input, forgetArchived(context));
  const draft = newDraft(context);
  const { list } = draft;
  try {
    const named = await orWriteIfStopped(nothingDone(input), context, () => collect(input, list, context));
    if (list.count === 0) {
      const reason = input.filter === null ? 'Standard input has no ids' : 'No session matches';
      await context.say(`${reason}: nothing was ${done}.`);
    }
    if (list.count === 0 || input.dryRun || !input.yes)
      await orWriteIfStopped(nothingDone(input), context, () => sayArchived(input, context));
    if (list.count === 0) return exitDone;
    if (input.tags !== null && list.count > 1) {
      const { add, remove } = input.tags;
      await orWriteIfStopped(nothingDone(input), context, () => requireTags([...add, ...remove], context));
    }
    if (input.dryRun) return await lookUp(draft, input, context);
    if (list.count === 1 && input.filter === null) {
      const [session] = named;
      if (session !== undefined && input.kind === 'delete' && !input.yes)
        await orWriteIfStopped(nothingDone(input), context, () => confirmNamed(session, input, context));
      return await orWriteIfStopped(unknownOutcome(input), context, () =>
        runSingle(operation, list, singleOptions(input, context), context),
      );
    }
    return await changeAll(draft, input, context);
  } finally {
    draft.close();
  }
}

/** A search finds archived sessions, but a batch leaves them out. */
async function sayArchived({ filter, kind }: ActionInput, context: CliContext): Promise<void> {
  if (filter === null || kind === 'archive' || kind === 'unarchive') return;
  const notice = await archivedNotice(filter, context);
  if (notice !== null) await context.say(notice);
}

function singleOptions(
  { ignoreMissing, throwsMissing = false, words, filter }: ActionInput,
  context: CliContext,
) {
  const missing: Missing = ignoreMissing ? 'ignored' : throwsMissing ? 'thrown' : 'reported';
  return { missing, isFromStdin: filter === null && areOnStdin(words, context) };
}

/** Looks up each id. Ids that a filter found need no request. */
async function lookUp({ list }: BatchDraft, input: ActionInput, context: CliContext): Promise<number> {
  const { concurrency, filter } = input;
  const dryRun = { ...lookup, done: `would_${input.kind}` };
  const operation: typeof lookup =
    filter === null ? dryRun : { ...dryRun, runOne: () => async () => ({ repeated: false }) };
  if (list.count === 1) return runSingle(operation, list, singleOptions(input, context), context);
  // A dry run is for looking at the ids, so a terminal shows them, too.
  const ids = {
    entries: list.entries(),
    total: list.count,
    journal: null,
    concurrency,
    verbose: true,
  };
  return endStatus(await runOver(operation, ids, context), input.ignoreMissing ?? false);
}

async function changeAll(draft: BatchDraft, input: ActionInput, context: CliContext): Promise<number> {
  const { list, batch } = draft;
  const { ignoreMissing = false, concurrency, verbose = false } = input;
  const { owner } = await orWriteIfStopped(nothingDone(input), context, async () => {
    const ownership = await batchOwner(context);
    if (!input.yes) await confirmBatch(draft, input, ownership.project, context);
    return ownership;
  });
  const journal = await draft.seal({
    ...(input.kind === 'delete'
      ? { version: 1 }
      : { version: 2, action: { kind: input.kind, tags: input.tags } }),
    batch,
    ...owner,
    ids: list.count,
    ignore_missing: ignoreMissing,
    made_at: new Date(context.host.now()).toISOString(),
  });
  try {
    const ids = { entries: list.entries(), total: list.count, journal, concurrency, verbose };
    const end = await runOver(operationOf(input, forgetArchived(context)), { ...ids, batch }, context);
    return await reportEnd(end, { batch, kind: input.kind, ignoreMissing }, context);
  } finally {
    journal.close();
  }
}

async function resumeBatch(batch: string, input: ActionInput, context: CliContext): Promise<number> {
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireKind(input.kind);
    known.requireOwner(
      (await orWriteIfStopped(nothingDone(input), context, () => batchOwner(context))).owner,
    );
    const ignoreMissing = input.ignoreMissing || known.seal.ignore_missing;
    const total = known.count('outstanding');
    await context.say(`${total} of ${known.seal.ids} remaining.`);
    const { concurrency, verbose = false } = input;
    if (printsEachResult(verbose, context)) await printMissing(known, context);
    journal.recordPrinted(known.seal.ids);
    const ids = { entries: known.entries('outstanding'), total, journal, concurrency, verbose };
    const end = await runOver(operationOf(known.action, forgetArchived(context)), { ...ids, batch }, context);
    const status = await reportEnd(end, { batch, kind: input.kind, ignoreMissing }, context);
    return Math.max(status, ignoreMissing || known.count('missing') === 0 ? exitDone : exitSomeFailed);
  } finally {
    journal.close();
  }
}

/** Prints the results that the batch has recorded, and perhaps not printed before its process was killed. */
async function printMissing(known: KnownBatch, context: CliContext): Promise<void> {
  let results: ItemResult[] = [];
  for (const result of known.unprinted()) {
    results.push(result);
    if (results.length < resultsPerWrite) continue;
    await writeResults(results, context);
    results = [];
  }
  await writeResults(results, context);
}

/** Forgets archived sessions as the ones that `--continue` would continue. */
function forgetArchived({ host }: CliContext): (ids: ReadonlySet<string>) => void {
  return (ids) => forgetCurrentSessions(host.dataDirectory, (id) => ids.has(id));
}
