// Runs `parley sessions redact`: finds the texts, asks for confirmation, replaces the texts in the input history and in the store, erases
// their bytes, and lists where the texts still are or may be.
import type { Administration } from '../../../service/administration.ts';
import { ParleyError } from '../../../service/errors.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import { type BatchProgress, itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { redactHistories } from '../../repl/history-redaction.ts';
import { hasNoChanges, type SessionRedactionPlan } from '../../secrets/session-redaction.ts';
import { type ItemResult, writeResults } from '../../session-batch/batch-report.ts';
import { withSessionName } from '../../session-reference.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { showWaiting } from '../../terminal/progress.ts';
import { confirm } from '../../terminal/prompt.ts';
import { erasureRemarks } from './erasure-remarks.ts';
import { everyActiveSession } from './every-session.ts';
import { areOnStdin, readGivenIds } from './ids.ts';
import { planOf, RedactedTexts } from './redaction-texts.ts';

export interface RedactFlags {
  readonly all?: true;
  /** Removes the secrets of all texts. */
  readonly secrets?: true;
  /** The messages whose texts to remove, by id or position. */
  readonly message?: readonly string[];
  readonly rewrite?: boolean;
  readonly dryRun?: true;
  readonly yes?: true;
}

interface RedactInput extends RedactFlags {
  /** Ids, or `-` for stdin; none with `all`. */
  readonly words: readonly string[];
}

/** How many sessions a question lists, and how many of those that still contain the texts. */
const maxShown = 3;
const maxHolders = 20;
/** Searching the whole store for more texts would take too long. */
const maxSearchedTexts = 100;

const deletedHint =
  'A deleted session cannot be redacted: restore it first with sessions restore, or erase it with sessions purge.';

const notReached = [
  'earlier exports, backups and snapshots',
  'the history of the shell, and the scrollback of terminals',
  'data sent to the provider of a model',
];

/** The parts that the steps of a redaction share. */
interface Redaction {
  readonly input: RedactInput;
  readonly administration: Administration;
  readonly project_id: string;
  /** True if the ids named one session, whose failure is the failure of the command. */
  readonly isOnly: boolean;
  readonly context: CliContext;
}

/** What was found in the sessions, before anything is replaced. */
interface Findings {
  readonly ids: readonly string[];
  readonly results: readonly ItemResult[];
  readonly texts: RedactedTexts;
  readonly messages: number;
}

export async function redactSessions(input: RedactInput, context: CliContext): Promise<number> {
  const administration = await context.administration();
  const { backend } = await context.open();
  const { project_id } = (await backend.service.verify(await context.call())).data;
  const named = input.all ? null : await readGivenIds(input.words, context);
  const isOnly = named?.size === 1;
  if (input.message !== undefined && !isOnly) {
    throw new ParleyError('USAGE', '--message requires exactly one session.', {
      hint: 'Nothing was replaced.',
    });
  }
  const redaction = { input, administration, project_id, isOnly, context };
  const findings = await withSpinner('Searching', context, () =>
    findTexts(named ?? everyId(context), redaction),
  );
  if (input.dryRun) {
    await context.say(`${textsIn(findings)} would be replaced.`);
    return reportEnd(findings.results, context);
  }
  const { unfinished, backups } = await administration.planPurge({ project_id, deleted_before: longAgo });
  if (findings.ids.length === 0) {
    if (unfinished) await erase(redaction);
    return reportEnd(findings.results, context);
  }
  if (!input.yes) await confirmRedaction(findings, backups, context);
  const lines = await redactHistories(context.host, (line) => findings.texts.without(line));
  const progress = itemProgress(context, 'redacted', findings.ids.length);
  const results = await replaceAll(findings, redaction, progress);
  await erase(redaction);
  const status = await reportEnd(results, context);
  await context.say(progress.sentence('session'));
  if (lines > 0) await context.say(`Also changed ${counted(lines, 'line')} of the input history.`);
  await reportRemaining(findings.texts, redaction);
  await context.say(
    `Not redacted, because Parley cannot reach them:\n${notReached.map((line) => `  ${line}`).join('\n')}`,
  );
  return status;
}

const longAgo = new Date(0).toISOString();

async function findTexts(
  ids: Iterable<string> | AsyncIterable<string>,
  { input, isOnly, context }: Redaction,
): Promise<Findings> {
  const texts = new RedactedTexts();
  const results: ItemResult[] = [];
  const redactable: string[] = [];
  let messages = 0;
  for await (const id of ids) {
    await yieldToEventLoop();
    context.signal.throwIfAborted();
    const plan = await resultOrFailure(id, { input, isOnly, context }, () =>
      planOf(id, input.message, context),
    );
    if ('status' in plan) results.push(plan);
    else if (hasNoChanges(plan)) results.push({ session_id: id, status: 'unchanged' });
    else {
      redactable.push(id);
      results.push(resultOf(id, 'would_redact', plan));
      texts.add(plan);
      messages += plan.messages.length;
    }
  }
  return { ids: redactable, results, texts, messages };
}

const textsIn = ({ ids, texts, messages }: Findings) =>
  `${counted(texts.count, 'text')} in ${counted(messages, 'message')} of ${counted(ids.length, 'session')}`;

async function confirmRedaction(findings: Findings, backups: readonly string[], context: CliContext) {
  const { ids } = findings;
  const shown = ids.slice(0, maxShown).map((id) => `  ${id}\n`);
  const copies =
    backups.length === 0 ? '' : ` This also removes the backups beside it: ${backups.join(', ')}.`;
  await writeNotice(
    `${textsIn(findings)}:\n` +
      `${shown.join('')}${ids.length > shown.length ? '  …\n' : ''}` +
      `The texts will be permanently erased from the store. This cannot be undone. It takes a while, and needs space for a second copy of the store.${copies}`,
    context.stderr,
  );
  if (await confirm('Replace them?', '--yes', context.prompting)) return;
  throw new ParleyError('USAGE', 'Nothing was replaced.', { hint: 'You answered no.' });
}

/** Reads each session again, because it may have changed since the question. */
async function replaceAll(
  { ids, results, texts }: Findings,
  { input, administration, project_id, isOnly, context }: Redaction,
  progress: BatchProgress,
): Promise<readonly ItemResult[]> {
  const redacted = results.filter(({ status }) => status !== 'would_redact');
  for (const { status } of redacted) if (status !== 'unchanged') progress.pass(status);
  try {
    for (const id of ids) {
      await yieldToEventLoop();
      context.signal.throwIfAborted();
      const result = await resultOrFailure(id, { input, isOnly, context }, async () => {
        const plan = await planOf(id, input.message, context);
        texts.add(plan);
        const { messages, changes } = plan;
        await administration.redactSession({ project_id, session_id: id, messages, changes });
        return resultOf(id, 'redacted', plan);
      });
      progress.finish(result.status);
      redacted.push(result);
    }
  } finally {
    progress.stop();
  }
  return redacted;
}

async function erase({ input, administration, context }: Redaction): Promise<void> {
  const { facts, backups_removed, integrity } = await withSpinner('Erasing', context, () =>
    administration.eraseRedacted({ rewrite: input.rewrite ?? false }),
  );
  if (integrity !== 'ok') await context.say(`Integrity check of the store: ${integrity}`);
  for (const backup of backups_removed) await context.say(`Removed the backup ${backup}.`);
  for (const remark of erasureRemarks(facts)) await context.say(remark);
}

/** Reports which other sessions, such as forks, still contain the texts. */
async function reportRemaining(texts: RedactedTexts, { administration, context }: Redaction): Promise<void> {
  const { searchable, count } = texts;
  if (searchable.length > maxSearchedTexts) {
    return context.say('There are too many texts to search other sessions for them.');
  }
  if (searchable.length < count)
    await context.say('Other sessions were not searched for texts of fewer than 8 characters.');
  if (searchable.length === 0) return;
  const holders = await withSpinner('Checking', context, () =>
    administration.sessionsWith(searchable, maxHolders + 1),
  );
  if (holders.length === 0) return context.say('No session in the store contains these texts any more.');
  const more = holders.length > maxHolders ? ', …' : '';
  await context.say(
    `These texts are still in ${holders.slice(0, maxHolders).join(', ')}${more}: redact those, too (restore deleted ones first, or purge them).`,
  );
}

function resultOf(session_id: string, status: string, plan: SessionRedactionPlan): ItemResult {
  return {
    session_id,
    status,
    messages: plan.messages.length,
    ...(plan.summary !== '' && { kinds: plan.summary }),
  };
}

/** Turns the failure of one of several sessions into its result. */
async function resultOrFailure<T>(
  id: string,
  { input, isOnly, context }: Pick<Redaction, 'input' | 'isOnly' | 'context'>,
  work: () => Promise<T>,
): Promise<T | ItemResult> {
  try {
    return await work();
  } catch (error) {
    const skippable = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'PAYLOAD_TOO_LARGE'];
    if (!(error instanceof ParleyError)) throw error;
    if (isOnly && error.code === 'SESSION_NOT_FOUND') {
      const isFromStdin = areOnStdin(input.words, context);
      throw withSessionName(error, id, context, 'active', isFromStdin).with({ hint: deletedHint });
    }
    if (isOnly || !skippable.includes(error.code)) throw error;
    const { code, message } = error;
    const status = code === 'SESSION_NOT_FOUND' ? 'not_found' : 'failed';
    return { session_id: id, status, error: { code, message } };
  }
}

async function reportEnd(results: readonly ItemResult[], context: CliContext): Promise<number> {
  await writeResults(results, context);
  if (results.some(({ status }) => status === 'not_found')) await context.say(deletedHint);
  return results.some(({ error }) => error !== undefined) ? exitSomeFailed : exitDone;
}

async function* everyId(context: CliContext): AsyncGenerator<string, void> {
  for await (const { session_id } of everyActiveSession(context)) yield session_id;
}

async function withSpinner<T>(text: string, context: CliContext, work: () => Promise<T>): Promise<T> {
  const spinner = showWaiting(text, context);
  return work().finally(() => spinner.stop());
}
