// What `parley sessions delete` does: collects the ids, asks, keeps a journal, deletes, and says how to go on or to undo it.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { Interruption } from '../../interruption.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { KnownBatch } from '../../session-batch/journal-reading.ts';
import { confirm } from '../../terminal/prompt.ts';
import {
  type BatchEnd,
  batchOwner,
  endStatus,
  offersArchive,
  runOver,
  runSingle,
  type SessionOperation,
  sameCommand,
} from './batch.ts';
import { collectIds, newDraft } from './draft.ts';
import { collectMatching } from './matching.ts';
import type { SessionFilter } from './session-filter.ts';

export interface DeleteInput {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
  /** Instead of ids; null for none. */
  readonly filter: SessionFilter | null;
  /** The batch to go on with, instead of both; null for none. */
  readonly resume: string | null;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly ignoreMissing: boolean;
  readonly max: number;
  readonly concurrency: number;
}

const deletion: SessionOperation<'deleted'> = {
  done: 'deleted',
  many: (home) => async (call, ids) => (await home.archive.deleteSessions(call, ids)).data.items,
  one: (home) => (call, id) => home.service.deleteSession(call, id),
  goesSingly: true,
};

const lookup: SessionOperation<'would_delete'> = {
  done: 'would_delete',
  many: null,
  one: (home) => async (call, id) => {
    await home.service.getSession(call, id);
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
    await orSay(nothingYet, context, () =>
      input.filter === null
        ? collectIds(input.words, list, input.max, context)
        : collectMatching(input.filter, list, input.max, context),
    );
    list.complete();
    if (list.count === 0) {
      const what = input.filter === null ? 'Standard input holds no id' : 'No session matches';
      await context.say(`${what}: nothing was deleted.`);
      return exitDone;
    }
    if (input.dryRun) return await lookUp(draft, input, context);
    if (list.count === 1 && input.filter === null) {
      return await orSay(noAnswer, context, () => runSingle(deletion, list, input.ignoreMissing, context));
    }
    return await deleteAll(draft, input, context);
  } finally {
    draft.close();
  }
}

const nothingYet = 'Stopped: nothing was deleted. To go on, give the same command again.\n';
const noAnswer =
  'Stopped before the answer came: it may have been deleted. To make sure, give the same command again.\n';

/** What has no journal yet to go on with says where it stands when it is stopped; part of the failure, and so no hint. */
async function orSay<T>(line: string, context: CliContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Interruption) await context.stderr.write(line);
    throw error;
  }
}

function requireOneSource({ words, filter, resume, dryRun }: DeleteInput): void {
  const sources = [words.length > 0, filter !== null, resume !== null].filter(Boolean).length;
  if (sources <= 1 && !(resume !== null && dryRun)) return;
  throw new ParleyError('USAGE', 'Ids, filters and --resume cannot be used together.', {
    hint: 'Nothing was done. Give ids, or filters, or --resume BATCH alone.',
  });
}

/** Whether each is there is asked; a filter has just been told so. */
async function lookUp({ list }: BatchDraft, input: DeleteInput, context: CliContext): Promise<number> {
  const { ignoreMissing, concurrency, filter } = input;
  const operation: typeof lookup =
    filter === null ? lookup : { ...lookup, one: () => async () => ({ repeated: false }) };
  if (list.count === 1) return runSingle(operation, list, ignoreMissing, context);
  const ids = { entries: list.entries(), total: list.count, journal: null, concurrency };
  const end = await runOver(operation, ids, context);
  if (end.stopped !== null) throw end.stopped.reason;
  return endStatus(end, ignoreMissing);
}

async function deleteAll(draft: BatchDraft, input: DeleteInput, context: CliContext): Promise<number> {
  const { list, batch } = draft;
  const { ignoreMissing, concurrency } = input;
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
    const ids = { entries: list.entries(), total: list.count, journal, concurrency };
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
    const ids = { entries: known.outstanding(), total, journal, concurrency: input.concurrency };
    const end = await runOver(deletion, ids, context);
    const status = await tellEnd(end, batch, ignoreMissing, context);
    return Math.max(status, ignoreMissing || known.count('missing') === 0 ? exitDone : exitSomeFailed);
  } finally {
    journal.close();
  }
}

/** How to go on, where it was stopped; how to undo it, where it was not. */
async function tellEnd(
  end: BatchEnd,
  batch: string,
  ignoreMissing: boolean,
  context: CliContext,
): Promise<number> {
  const resume = sameCommand(`sessions delete --resume ${batch}`, context.options);
  if (end.stopped !== null) {
    // Part of the failure's own words, and so said also where hints are not wanted.
    const where = end.report.isEmpty ? 'Stopped before the first result.' : 'Stopped.';
    await context.stderr.write(`${where} To go on: ${resume}\n`);
    throw end.stopped.reason;
  }
  if (end.report.count('failed') > 0) await context.say(`To try the failed again: ${resume}`);
  if (end.report.count('deleted') > 0) {
    const undo = sameCommand(`sessions restore --batch ${batch}`, context.options);
    const { home } = await context.open();
    await context.say(
      offersArchive(home) ? `To undo it: ${undo}` : 'This server offers nothing that would undo it.',
    );
  }
  return endStatus(end, ignoreMissing);
}

/** Shows what would go, and where, and goes on only after a yes. */
async function askFirst({ list }: BatchDraft, project: string | null, context: CliContext): Promise<void> {
  const sample = list.sample(3);
  const { profile, url } = context.target;
  const where = url === null ? 'the store on this machine' : url;
  const sessions = counted(list.count, 'session');
  await context.stderr.write(
    `${sessions}${project === null ? '' : ` of project ${project}`}, in ${where}${profile === null ? '' : ` (profile ${profile})`}:\n` +
      `${sample.map((id) => `  ${id}\n`).join('')}${list.count > sample.length ? '  …\n' : ''}`,
  );
  const question = list.count === 1 ? 'Delete this session?' : `Delete these ${list.count} sessions?`;
  const yes = await confirm(question, '--yes', context.prompting);
  if (!yes) throw new ParleyError('USAGE', 'Nothing was deleted.', { hint: 'It was answered with no.' });
}
