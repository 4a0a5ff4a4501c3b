// Runs `parley sessions import`: reads the files, stores what is new, and reports a result for each session.
import { setMaxListeners } from 'node:events';
import { ParleyError } from '../../../service/errors.ts';
import { groupedItems } from '../../batch/grouped-items.ts';
import { runInOrder } from '../../batch/ordered-run.ts';
import { Pacer } from '../../batch/pacer.ts';
import type { CliContext } from '../../context.ts';
import { textOf } from '../../imports/foreign-value.ts';
import { type ImportItem, recordId } from '../../imports/import-item.ts';
import { readItems } from '../../imports/import-items.ts';
import {
  importSession,
  type SessionImport,
  type SessionImportOptions,
} from '../../imports/session-import.ts';
import { type ImportFlags, type ImportPlan, isIncluded, planImport } from './import-plan.ts';
import { ImportReport, type Outcome } from './import-report.ts';

/** How many sessions are sent at a time. The store commits them together. */
const groupSize = 48;
/** The most characters of sessions in memory. A single session may have more. */
const maxCharacters = 4 * 1024 * 1024;
/** One group. An item of a slow source, such as a pipe, waits for others at most `waitMs`. */
const group = { items: groupSize, weight: maxCharacters / 4, weightOf: charactersOf, waitMs: 20 };

export async function importSessions(
  paths: readonly string[],
  flags: ImportFlags,
  context: CliContext,
): Promise<number> {
  if (flags.scan) return (await import('./import-scan.ts')).scanMachine(paths, context);
  const plan = await planImport(paths, flags, context);
  const fatal = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, fatal.signal]);
  // Each running call adds a listener.
  setMaxListeners(0, signal);
  const stopAll = (error: unknown) => fatal.abort(error);
  const report = new ImportReport(plan, context);
  const pacer = new Pacer({
    maxConcurrency: groupSize,
    maxUnanswered: 1,
    giveUp: stopAll,
    say: (line) => void report.say(line),
    signal,
    random: context.host.random,
  });
  try {
    await runInOrder<ImportItem, Outcome | null>(
      groupedItems(itemsOf(plan, signal, report, context), group),
      {
        concurrency: groupSize,
        window: { items: 2 * groupSize, weight: maxCharacters },
        weight: charactersOf,
        // If a session occurs twice, the second one finds the first.
        lane: ({ found }) => ('session' in found ? recordId(found.session.record) : null),
        signal,
        run: (item) =>
          outcomeOf(item, { ...plan, pacer, signal }, context).catch((error: unknown) => {
            stopAll(error);
            return null;
          }),
        write: async (outcomes) => {
          for (const outcome of outcomes) if (outcome !== null) await report.add(outcome);
          await report.flush();
        },
      },
    );
    signal.throwIfAborted();
  } catch (error) {
    await report.reportStop();
    throw error;
  } finally {
    plan.close();
    report.stop();
  }
  await report.end();
  return report.exitStatus;
}

/** The items that the options include. */
async function* itemsOf(
  plan: ImportPlan,
  signal: AbortSignal,
  report: ImportReport,
  { host }: CliContext,
): AsyncGenerator<ImportItem, void> {
  const items = readItems(plan.files(signal), {
    signal,
    from: plan.from,
    hasSeveral: plan.hasSeveral,
    messagesOnly: plan.messagesOnly,
    now: host.now(),
    temporaryDirectory: () => plan.temporaryDirectory(),
    openDatabase: host.openDatabase,
    onSkip: (path, isCompanion) => report.skip(path, isCompanion),
  });
  for await (const item of items) {
    if (isIncluded(item, plan)) yield item;
    else report.exclude();
  }
}

/** Imports the session of an item. Throws a failure that would affect every session. */
async function outcomeOf(
  item: ImportItem,
  options: SessionImportOptions,
  context: CliContext,
): Promise<Outcome> {
  const { found } = item;
  try {
    if ('failure' in found) throw found.failure;
    const intake =
      'skipped' in found
        ? skippedItem(item, found.skipped)
        : await importSession(found.session, options, context);
    return { item, intake, error: null };
  } catch (error) {
    if (!isOfItem(error, item)) throw error;
    return { item, intake: null, error: withForeignHint(error, item) };
  }
}

function skippedItem({ origin, place }: ImportItem, reason: string): SessionImport {
  return { session_id: origin === null ? place : origin.id, status: 'skipped', reason };
}

/**
 * False for a failure that would affect every session: a refused key, no network, a full disk, a server without an archive. `CONFIG` is an
 * unreadable source or a journal that cannot be written.
 */
function isOfItem(error: unknown, { found }: ImportItem): error is ParleyError {
  if (!(error instanceof ParleyError)) return false;
  if (error.code === 'CONFIG') return 'failure' in found;
  return error.kind === 'input' || error.code === 'INTERNAL_ERROR';
}

/** The service's own hint is for an export of Parley. The text of a foreign message can be too long. */
function withForeignHint(error: ParleyError, { origin, found }: ImportItem): ParleyError {
  if (origin === null || !('session' in found) || error.code !== 'INVALID_REQUEST') return error;
  const hint =
    'Nothing of this session was stored. --messages-only leaves out notes and the texts of attachments.';
  return error.with({ hint, remedy: null });
}

/** Counts the texts of messages only. The record is validated later, so it may have any shape here. */
function charactersOf({ found }: ImportItem): number {
  if (!('session' in found)) return 0;
  const messages: unknown = found.session.record?.messages;
  if (!Array.isArray(messages)) return 0;
  return messages.reduce((sum: number, message) => sum + (textOf(message?.content)?.length ?? 0), 0);
}
