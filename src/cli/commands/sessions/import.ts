// `parley sessions import`: takes in sessions that export wrote, each whole or not at all, with one result each. It can be run again: an
// equal session that is there already stays as it is.
import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { SessionRecord } from '../../../service/session-archive.ts';
import { fileBytes } from '../../../system/file-bytes.ts';
import { progressOn } from '../../batch/batch-progress.ts';
import { runInOrder } from '../../batch/ordered-run.ts';
import { Pacer } from '../../batch/pacer.ts';
import type { CliContext } from '../../context.ts';
import { tellFailure } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { type ItemResult, writeResults } from '../../session-batch/batch-report.ts';
import { unreadableFile } from '../../terminal/file-message.ts';
import { stdinText } from '../../terminal/stdin.ts';
import { Utf8Reader } from '../../terminal/utf8-reader.ts';
import { type GivenRecord, longestRecord, readRecords } from '../../transcripts/record-reading.ts';

/** Sessions that are sent at once: the store commits them together. */
const together = 16;

export interface ImportInput {
  /** `-` for stdin. */
  readonly path: string;
}

export function registerImport(parent: Command, run: Run): void {
  parent
    .command('import')
    .description('take in sessions that export wrote as JSON, with their ids and times')
    .argument('<file>', 'the export, or - for stdin')
    .action((path: string, _options, command: Command) =>
      run(command, (context) => runImport({ path }, context)),
    );
}

interface Outcome {
  readonly result: ItemResult;
  /** Null for a session that was imported. */
  readonly error: ParleyError | null;
  readonly place: string;
}

export async function runImport({ path }: ImportInput, context: CliContext): Promise<number> {
  const { host } = context;
  const hopeless = new AbortController();
  const signal = AbortSignal.any([context.stopSignal, hopeless.signal]);
  // Each call under way adds a listener.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => hopeless.abort(error);
  const name = path === '-' ? 'Standard input' : `The file ${path}`;
  const progress = progressOn(context, {
    end: null,
    unit: 'items',
    outcomes: ['imported'],
    resultsApart: false,
    lines: false,
  });
  const say = async (line: string) => {
    progress.clear();
    await context.say(line);
  };
  const pacer = new Pacer({
    most: together,
    mostUnanswered: 1,
    // The same session a second time is no second session.
    mostTries: Number.POSITIVE_INFINITY,
    isTurnedAway: ({ code }) => code === 'RATE_LIMITED' || code === 'UNAVAILABLE',
    giveUp,
    say: (line) => void say(line),
    signal,
    random: host.random,
  });
  let lastStatus = 0;
  try {
    await runInOrder<GivenRecord, Outcome | null>(readRecords(textOf(path, signal, context), name), {
      concurrency: together,
      window: { items: 2 * together },
      signal,
      run: (record) =>
        importOne(record, pacer, signal, context).catch((error: unknown) => {
          giveUp(error);
          return null;
        }),
      write: async (outcomes) => {
        for (const { result, error, place } of outcomes.filter((outcome) => outcome !== null)) {
          progress.finish(result.status);
          await writeResults([result], context);
          if (error === null) continue;
          await say(`At ${place}:`);
          lastStatus = await tellFailure(error, context);
        }
      },
    });
    signal.throwIfAborted();
  } finally {
    progress.stop();
    if (progress.finished > 1) await context.say(progress.summary());
  }
  if (progress.count('failed') === 0) return exitDone;
  return progress.finished === 1 ? lastStatus : exitSomeFailed;
}

async function* textOf(path: string, signal: AbortSignal, context: CliContext): AsyncGenerator<string, void> {
  if (path === '-') {
    const reading = context.reading('exported sessions', 'a file may be named instead');
    yield* stdinText({ ...reading, signal: AbortSignal.any([reading.signal, signal]) }, null);
    return;
  }
  const reader = new Utf8Reader({ name: `The file ${path}`, limit: null });
  try {
    for await (const bytes of fileBytes(path, signal)) yield reader.push(bytes);
    yield reader.end();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ParleyError) throw error;
    throw unreadableFile(
      path,
      error,
      'Name a file that parley sessions export --format json has written, or - for stdin.',
    );
  }
}

/** A failure that every session would share is thrown: a refused key, no network, a full disk, a server without the archive. */
async function importOne(
  { place, value, isTooLong }: GivenRecord,
  pacer: Pacer,
  signal: AbortSignal,
  context: CliContext,
): Promise<Outcome> {
  const session_id = idOf(value) ?? place;
  try {
    if (isTooLong) throw tooLong(place);
    if (value === undefined) throw notJson(place);
    const { backend } = await context.open();
    const call = { ...(await context.call()), signal, pacesItself: true };
    // The service that keeps the session checks its form.
    await pacer.run(() => backend.archive.importSession(call, value as SessionRecord));
    return { result: { session_id, status: 'imported' }, error: null, place };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { code, message } = error;
    if (error.kind !== 'input' && code !== 'INTERNAL_ERROR') throw error;
    return { result: { session_id, status: 'failed', error: { code, message } }, error, place };
  }
}

function idOf(value: unknown): string | null {
  const id = (value as { session?: { session_id?: unknown } } | null | undefined)?.session?.session_id;
  return typeof id === 'string' && id !== '' ? id : null;
}

function notJson(place: string): ParleyError {
  return new ParleyError('USAGE', `What stands at ${place} is not JSON.`, {
    hint: 'Nothing of it was kept. A line holds one session, as export --format json writes it.',
  });
}

function tooLong(place: string): ParleyError {
  return new ParleyError(
    'PAYLOAD_TOO_LARGE',
    `What stands at ${place} has more than ${longestRecord} characters, the limit.`,
    {
      hint: 'Nothing of it was kept. A line holds one session.',
    },
  );
}
