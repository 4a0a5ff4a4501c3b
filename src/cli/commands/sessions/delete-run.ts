// What `parley sessions delete` does: it collects the ids, asks, seals a journal and deletes.
import type { CliContext } from '../../context.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { batchOwner, endStatus, runOver, runSingle, type SessionOperation } from './batch.ts';
import { askAboutNamed, askFirst, collect, type DeleteInput, requireOneSource } from './delete-plan.ts';
import { noAnswer, nothingYet, orSay, tellEnd } from './delete-report.ts';
import { newDraft } from './draft.ts';

export const deletion: SessionOperation<'deleted'> = {
  done: 'deleted',
  many: (backend) => async (call, ids) => (await backend.archive.deleteSessions(call, ids)).data.items,
  one: (backend) => (call, id) => backend.service.deleteSession(call, id),
  goesSingly: true,
};

const lookup: SessionOperation<'would_delete'> = {
  done: 'would_delete',
  many: null,
  one: (backend) => async (call, id) => {
    await backend.service.getSession(call, id);
    return { repeated: false };
  },
  goesSingly: true,
};

export async function deleteSessions(input: DeleteInput, context: CliContext): Promise<number> {
  requireOneSource(input);
  if (input.resume !== null) return resumeBatch(input.resume, input, context);
  const draft = newDraft(context);
  const { list } = draft;
  try {
    const named = await orSay(nothingYet, context, () => collect(input, list, context));
    if (list.count === 0) {
      const what = input.filter === null ? 'Standard input holds no id' : 'No session matches';
      await context.say(`${what}: nothing was deleted.`);
      return exitDone;
    }
    if (input.dryRun) return await lookUp(draft, input, context);
    if (list.count === 1 && input.filter === null) {
      const [session] = named;
      if (session !== undefined && !input.yes)
        await orSay(nothingYet, context, () => askAboutNamed(session, context));
      return await orSay(noAnswer, context, () => runSingle(deletion, list, input.ignoreMissing, context));
    }
    return await deleteAll(draft, input, context);
  } finally {
    draft.close();
  }
}

/** Asks of each id whether it is there. Ids that a filter found need no question. */
async function lookUp({ list }: BatchDraft, input: DeleteInput, context: CliContext): Promise<number> {
  const { ignoreMissing, concurrency, filter } = input;
  const operation: typeof lookup =
    filter === null ? lookup : { ...lookup, one: () => async () => ({ repeated: false }) };
  if (list.count === 1) return runSingle(operation, list, ignoreMissing, context);
  // What would go is what was asked for, so a terminal shows it.
  const ids = { entries: list.entries(), total: list.count, journal: null, concurrency, verbose: true };
  return endStatus(await runOver(operation, ids, context), ignoreMissing);
}

async function deleteAll(draft: BatchDraft, input: DeleteInput, context: CliContext): Promise<number> {
  const { list, batch } = draft;
  const { ignoreMissing, concurrency, verbose } = input;
  const { owner } = await orSay(nothingYet, context, async () => {
    const found = await batchOwner(context);
    if (!input.yes) await askFirst(draft, found.project, context);
    return found;
  });
  const journal = await draft.seal({
    version: 1,
    batch,
    ...owner,
    ids: list.count,
    ignore_missing: ignoreMissing,
    made_at: new Date(context.host.now()).toISOString(),
  });
  try {
    const ids = { entries: list.entries(), total: list.count, journal, concurrency, verbose };
    const end = await runOver(deletion, ids, context);
    return await tellEnd(end, batch, ignoreMissing, context);
  } finally {
    journal.close();
  }
}

async function resumeBatch(batch: string, input: DeleteInput, context: CliContext): Promise<number> {
  const { known, journal } = await KnownBatch.open(context.host.dataDirectory, batch, context.host);
  try {
    known.requireOwner((await orSay(nothingYet, context, () => batchOwner(context))).owner);
    const ignoreMissing = input.ignoreMissing || known.seal.ignore_missing;
    const total = known.count('outstanding');
    await context.say(`${total} of ${known.seal.ids} are left to do.`);
    const { concurrency, verbose } = input;
    const ids = { entries: known.entries('outstanding'), total, journal, concurrency, verbose };
    const end = await runOver(deletion, ids, context);
    const status = await tellEnd(end, batch, ignoreMissing, context);
    return Math.max(status, ignoreMissing || known.count('missing') === 0 ? exitDone : exitSomeFailed);
  } finally {
    journal.close();
  }
}
