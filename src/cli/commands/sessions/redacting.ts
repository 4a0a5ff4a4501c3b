// What `parley sessions redact` does: it looks, asks, replaces the texts in the history of what was typed and in the store, erases their
// bytes, and says where the texts still are and what it cannot reach.
import type { Administration } from '../../../service/administration.ts';
import { ParleyError } from '../../../service/errors.ts';
import { anySession, firstCreatedFirst } from '../../../service/session-archive.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import { type BatchProgress, progressOn } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { redactHistories } from '../../repl/history-redaction.ts';
import { isEmpty, type SessionRedactionPlan } from '../../secrets/session-redaction.ts';
import { type ItemResult, writeResults } from '../../session-batch/batch-report.ts';
import { waiting } from '../../terminal/progress.ts';
import { confirm } from '../../terminal/prompt.ts';
import { startTimer } from '../../terminal/timer.ts';
import { erasureRemarks } from './erasure-remarks.ts';
import { everySession } from './every-session.ts';
import { givenIds } from './ids.ts';
import { planOf, RedactedTexts } from './redaction-texts.ts';

export interface RedactInput {
  /** Ids, or `-` for stdin; none with `all`. */
  readonly words: readonly string[];
  readonly all: boolean;
  /** The messages whose texts go, by id or position; null for the secrets of all texts. */
  readonly messages: readonly string[] | null;
  readonly rewrite: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

const mostIds = 1_000_000;
/** How many sessions are named in a question, and in a list of those that hold the texts still. */
const mostShown = 3;
const mostHolders = 20;
/** A search of the whole store for more texts takes too long. */
const mostSought = 100;

const aboutDeleted =
  'A deleted session is not redacted: restore it first with sessions restore, or erase it with sessions purge.';

const notReached = [
  'exports, backups and snapshots that were made before',
  'the history of the shell, and the scroll-back of terminals',
  'what was sent to the provider of a model',
];

/** What was found in the sessions, before anything is replaced. */
interface Look {
  readonly ids: readonly string[];
  readonly results: readonly ItemResult[];
  readonly texts: RedactedTexts;
  readonly messages: number;
}

export async function redactSessions(input: RedactInput, context: CliContext): Promise<number> {
  const administration = await context.administration();
  const { backend } = await context.open();
  const { project_id } = (await backend.service.verify(await context.call())).data;
  const given = input.all ? null : await givenIds(input.words, mostIds, context);
  const isOnly = given?.size === 1;
  if (input.messages !== null && !isOnly) {
    throw new ParleyError('USAGE', '--message is for one session.', { hint: 'Nothing was replaced.' });
  }
  const look = await spinning('Looking', context, () =>
    lookAt(given ?? everyId(context), input, isOnly, context),
  );
  if (input.dryRun) {
    await context.say(`${textsIn(look)} would be replaced.`);
    return tellEnd(look.results, context);
  }
  const { unfinished, backups } = await administration.planPurge({ project_id, deleted_before: longAgo });
  if (look.ids.length === 0) {
    if (unfinished) await erase(input.rewrite, administration, context);
    return tellEnd(look.results, context);
  }
  if (!input.yes) await askFirst(look, backups, context);
  const lines = await redactHistories(context.host, (line) => look.texts.without(line));
  const progress = progressOn(context, {
    ...{ end: look.ids.length, unit: 'items', outcomes: ['redacted'], resultsApart: true },
  });
  const results = await replaceAll(look, project_id, input, administration, isOnly, progress, context);
  await erase(input.rewrite, administration, context);
  const status = await tellEnd(results, context);
  await context.say(progress.sentence('session'));
  if (lines > 0) await context.say(`${counted(lines, 'line')} of what was typed changed, too.`);
  await tellHolders(look.texts, administration, context);
  await context.say(
    `Out of reach, and yours to look after:\n${notReached.map((line) => `  ${line}`).join('\n')}`,
  );
  return status;
}

const longAgo = new Date(0).toISOString();

async function lookAt(
  ids: Iterable<string> | AsyncIterable<string>,
  input: RedactInput,
  isOnly: boolean,
  context: CliContext,
): Promise<Look> {
  const texts = new RedactedTexts();
  const results: ItemResult[] = [];
  const redactable: string[] = [];
  let messages = 0;
  for await (const id of ids) {
    await yieldToEventLoop();
    context.signal.throwIfAborted();
    const plan = await orResult(id, isOnly, () => planOf(id, input.messages, context));
    if ('status' in plan) results.push(plan);
    else if (isEmpty(plan)) results.push({ session_id: id, status: 'unchanged' });
    else {
      redactable.push(id);
      results.push(resultOf(id, 'would_redact', plan));
      texts.add(plan);
      messages += plan.messages.length;
    }
  }
  return { ids: redactable, results, texts, messages };
}

const textsIn = ({ ids, texts, messages }: Look) =>
  `${counted(texts.count, 'text')} in ${counted(messages, 'message')} of ${counted(ids.length, 'session')}`;

async function askFirst(look: Look, backups: readonly string[], context: CliContext) {
  const { ids } = look;
  const shown = ids.slice(0, mostShown).map((id) => `  ${id}\n`);
  const copies = backups.length === 0 ? '' : ` The backups beside it go, too: ${backups.join(', ')}.`;
  await context.stderr.write(
    `${textsIn(look)}:\n` +
      `${shown.join('')}${ids.length > shown.length ? '  …\n' : ''}` +
      `The texts are erased from the store for good. This cannot be undone. It takes a while, and room for a second copy of the store.${copies}\n`,
  );
  if (await confirm('Replace them?', '--yes', context.prompting)) return;
  throw new ParleyError('USAGE', 'Nothing was replaced.', { hint: 'It was answered with no.' });
}

/** Each session is read again: it may have gone on since the question. */
async function replaceAll(
  { ids, results, texts }: Look,
  project_id: string,
  input: RedactInput,
  administration: Administration,
  isOnly: boolean,
  progress: BatchProgress,
  context: CliContext,
): Promise<readonly ItemResult[]> {
  const redacted = results.filter(({ status }) => status !== 'would_redact');
  for (const { status } of redacted) if (status !== 'unchanged') progress.pass(status);
  try {
    for (const id of ids) {
      await yieldToEventLoop();
      context.signal.throwIfAborted();
      const result = await orResult(id, isOnly, async () => {
        const plan = await planOf(id, input.messages, context);
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

async function erase(rewrite: boolean, administration: Administration, context: CliContext): Promise<void> {
  const { facts, backups_removed, integrity } = await spinning('Erasing', context, () =>
    administration.eraseRedacted({ rewrite }),
  );
  if (integrity !== 'ok') await context.say(`The check of the store: ${integrity}`);
  for (const backup of backups_removed) await context.say(`Removed the backup ${backup}.`);
  for (const remark of erasureRemarks(facts)) await context.say(remark);
}

/** Forks and other copies have texts of their own. */
async function tellHolders(
  texts: RedactedTexts,
  administration: Administration,
  context: CliContext,
): Promise<void> {
  const { sought, count } = texts;
  if (sought.length > mostSought) {
    return context.say(
      'Whether other sessions hold the same texts was not looked up: there are too many texts.',
    );
  }
  if (sought.length < count)
    await context.say('Texts of fewer than 8 characters were not looked up in other sessions.');
  if (sought.length === 0) return;
  const holders = await spinning('Checking', context, () =>
    administration.sessionsWith(sought, mostHolders + 1),
  );
  if (holders.length === 0) return context.say('No session of the store holds any of these texts any more.');
  const more = holders.length > mostHolders ? ', …' : '';
  await context.say(
    `The same texts are still in ${holders.slice(0, mostHolders).join(', ')}${more}: redact those, too (a deleted one: restore it first, or purge it).`,
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

/** The failure of one session of several is its result. */
async function orResult<T>(id: string, isOnly: boolean, work: () => Promise<T>): Promise<T | ItemResult> {
  try {
    return await work();
  } catch (error) {
    const goesOn = ['SESSION_NOT_FOUND', 'SESSION_BUSY', 'PAYLOAD_TOO_LARGE'];
    if (!(error instanceof ParleyError)) throw error;
    if (isOnly && error.code === 'SESSION_NOT_FOUND') throw error.with({ hint: aboutDeleted });
    if (isOnly || !goesOn.includes(error.code)) throw error;
    const { code, message } = error;
    const status = code === 'SESSION_NOT_FOUND' ? 'not_found' : 'failed';
    return { session_id: id, status, error: { code, message } };
  }
}

async function tellEnd(results: readonly ItemResult[], context: CliContext): Promise<number> {
  await writeResults(results, context);
  if (results.some(({ status }) => status === 'not_found')) await context.say(aboutDeleted);
  return results.some(({ error }) => error !== undefined) ? exitSomeFailed : exitDone;
}

async function* everyId(context: CliContext): AsyncGenerator<string, void> {
  for await (const { session_id } of everySession({ ...anySession, ...firstCreatedFirst }, context))
    yield session_id;
}

async function spinning<T>(text: string, context: CliContext, work: () => Promise<T>): Promise<T> {
  const { now } = context.host;
  const { quiet } = context.options;
  const spinner = waiting(() => context.stderr, text, { quiet, startTimer, now });
  return work().finally(() => spinner.stop());
}
