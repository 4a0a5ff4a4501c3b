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
import { importSession, type SessionImport } from '../../imports/session-import.ts';
import { type ImportInput, isIncluded, planImport } from './import-plan.ts';
import { ImportReport } from './import-report.ts';

/** How many sessions are sent at a time. The store commits them together. */
const groupSize = 48;
/** The most characters of sessions in memory. A single session may have more. */
const maxCharacters = 4 * 1024 * 1024;
/** One group. An item of a slow source, such as a pipe, waits for others at most `waitMs`. */
const group = { items: groupSize, weight: maxCharacters / 4, weightOf: charactersOf, waitMs: 20 };

interface Outcome {
  readonly item: ImportItem;
  readonly intake: SessionImport | null;
  readonly error: ParleyError | null;
}

export async function importSessions(input: ImportInput, context: CliContext): Promise<number> {
  if (input.scan) return (await import('./import-scan.ts')).scanMachine(input, context);
  const plan = await planImport(input, context);
  const fatal = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, fatal.signal]);
  // Each running call adds a listener.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => fatal.abort(error);
  const report = new ImportReport(plan, context);
  const pacer = new Pacer({
    maxConcurrency: groupSize,
    maxUnanswered: 1,
    // Sending a session again does not import it twice.
    maxTries: Number.POSITIVE_INFINITY,
    isRefused: ({ code }) => code === 'RATE_LIMITED' || code === 'UNAVAILABLE',
    giveUp,
    say: (line) => void report.say(line),
    signal,
    random: context.host.random,
  });
  const importItem = async (item: ImportItem): Promise<Outcome | null> => {
    const { found } = item;
    try {
      if ('skipped' in found) {
        const session_id = item.origin === null ? item.place : item.origin.id;
        return { item, intake: { session_id, status: 'skipped', reason: found.skipped }, error: null };
      }
      if ('failure' in found) throw found.failure;
      const intake = await importSession(found.session, { ...plan, pacer, signal }, context);
      return { item, intake, error: null };
    } catch (error) {
      // A failure that would affect every session ends the import: a refused key, no network, a full disk, a server without an archive.
      // So would a journal that cannot be written, which is `CONFIG` as an unreadable source is.
      const isOfItem =
        error instanceof ParleyError &&
        (error.code === 'CONFIG'
          ? 'failure' in found
          : error.kind === 'input' || error.code === 'INTERNAL_ERROR');
      if (isOfItem) return { item, intake: null, error: withForeignHint(error, item) };
      giveUp(error);
      return null;
    }
  };
  const items = readItems(plan.files(signal), {
    signal,
    from: plan.from,
    messagesOnly: plan.messagesOnly,
    now: context.host.now(),
    temporaryDirectory: () => plan.temporaryDirectory(),
    openDatabase: context.host.openDatabase,
    skipped: (path, isCompanion) => report.skip(path, isCompanion),
  });
  try {
    const groups = groupedItems(included(items, plan, report), group);
    await runInOrder<ImportItem, Outcome | null>(groups, {
      concurrency: groupSize,
      window: { items: 2 * groupSize, weight: maxCharacters },
      weight: charactersOf,
      // If a session occurs twice, the second one finds the first.
      lane: ({ found }) => ('session' in found ? recordId(found.session.record) : null),
      signal,
      run: importItem,
      write: async (outcomes) => {
        for (const outcome of outcomes) {
          if (outcome === null) continue;
          const { item, intake, error } = outcome;
          await report.add(item, intake, error);
        }
        await report.flush();
      },
    });
    signal.throwIfAborted();
  } catch (error) {
    await report.stopped();
    throw error;
  } finally {
    await plan.close();
    report.stop();
  }
  await report.end();
  return report.exitStatus;
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

async function* included(
  items: AsyncIterable<ImportItem>,
  plan: Awaited<ReturnType<typeof planImport>>,
  report: ImportReport,
): AsyncGenerator<ImportItem, void> {
  for await (const item of items) {
    if (isIncluded(item, plan)) yield item;
    else report.exclude();
  }
}
