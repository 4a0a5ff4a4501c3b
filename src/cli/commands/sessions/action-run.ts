// What a batch does, of deletions or of another kind: it collects the ids, asks, seals a journal and runs.
import { forgetCurrentSessions } from '../../../config/current-session.ts';
import type { CliContext } from '../../context.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { batchKinds } from '../../session-batch/batch-kind.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { type ActionInput, askAboutNamed, askFirst, collect, requireOneSource } from './action-plan.ts';
import { noAnswer, nothingYet, orSay, tellEnd } from './action-report.ts';
import { batchOwner, endStatus, runOver, runSingle } from './batch.ts';
import { newDraft } from './draft.ts';
import { lookup, operationOf } from './operations.ts';
import { requireTags } from './required-tags.ts';

export async function runAction(input: ActionInput, context: CliContext): Promise<number> {
  requireOneSource(input);
  if (input.resume !== null) return resumeBatch(input.resume, input, context);
  const { done } = batchKinds[input.kind];
  const operation = operationOf(input, forgetting(context));
  const draft = newDraft(context);
  const { list } = draft;
  try {
    const named = await orSay(nothingYet(input), context, () => collect(input, list, context));
    if (list.count === 0) {
      const what = input.filter === null ? 'Standard input holds no id' : 'No session matches';
      await context.say(`${what}: nothing was ${done}.`);
      return exitDone;
    }
    if (input.tags !== null && list.count > 1) {
      const { add, remove } = input.tags;
      await orSay(nothingYet(input), context, () => requireTags([...add, ...remove], context));
    }
    if (input.dryRun) return await lookUp(draft, input, context);
    if (list.count === 1 && input.filter === null) {
      const [session] = named;
      if (session !== undefined && input.kind === 'delete' && !input.yes)
        await orSay(nothingYet(input), context, () => askAboutNamed(session, input, context));
      return await orSay(noAnswer(input), context, () =>
        runSingle(operation, list, input.ignoreMissing, context),
      );
    }
    return await changeAll(draft, input, context);
  } finally {
    draft.close();
  }
}

/** Asks of each id whether it is there. Ids that a filter found need no question. */
async function lookUp({ list }: BatchDraft, input: ActionInput, context: CliContext): Promise<number> {
  const { ignoreMissing, concurrency, filter } = input;
  const named = { ...lookup, done: `would_${input.kind}` };
  const operation: typeof lookup =
    filter === null ? named : { ...named, one: () => async () => ({ repeated: false }) };
  if (list.count === 1) return runSingle(operation, list, ignoreMissing, context);
  // What would go is what was asked for, so a terminal shows it.
  const ids = {
    entries: list.entries(),
    total: list.count,
    journal: null,
    concurrency,
    verbose: true,
  };
  return endStatus(await runOver(operation, ids, context), ignoreMissing);
}

async function changeAll(draft: BatchDraft, input: ActionInput, context: CliContext): Promise<number> {
  const { list, batch } = draft;
  const { ignoreMissing, concurrency, verbose } = input;
  const { owner } = await orSay(nothingYet(input), context, async () => {
    const found = await batchOwner(context);
    if (!input.yes) await askFirst(draft, input, found.project, context);
    return found;
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
    const end = await runOver(operationOf(input, forgetting(context)), { ...ids, batch }, context);
    return await tellEnd(end, { batch, kind: input.kind, ignoreMissing }, context);
  } finally {
    journal.close();
  }
}

async function resumeBatch(batch: string, input: ActionInput, context: CliContext): Promise<number> {
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireKind(input.kind);
    known.requireOwner((await orSay(nothingYet(input), context, () => batchOwner(context))).owner);
    const ignoreMissing = input.ignoreMissing || known.seal.ignore_missing;
    const total = known.count('outstanding');
    await context.say(`${total} of ${known.seal.ids} are left to do.`);
    const { concurrency, verbose } = input;
    const ids = { entries: known.entries('outstanding'), total, journal, concurrency, verbose };
    const end = await runOver(operationOf(known.action, forgetting(context)), { ...ids, batch }, context);
    const status = await tellEnd(end, { batch, kind: input.kind, ignoreMissing }, context);
    return Math.max(status, ignoreMissing || known.count('missing') === 0 ? exitDone : exitSomeFailed);
  } finally {
    journal.close();
  }
}

/** A terminal whose last session was archived has none to continue. */
function forgetting({ host }: CliContext): (ids: ReadonlySet<string>) => void {
  return (ids) => forgetCurrentSessions(host.dataDirectory, (id) => ids.has(id));
}
