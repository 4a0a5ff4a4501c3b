// `parley sessions import`: takes in sessions that export wrote, each whole or not at all, with a result each. To run it again does
// no harm: a session that is there and equal stays as it is.
import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { SessionRecord } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import { tellFailure } from '../../error-report.ts';
import { exitSomeFailed } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { type ItemResult, writeResults } from '../../session-batch/batch-report.ts';
import { fileBytes } from '../../terminal/file-bytes.ts';
import { unreadableFile } from '../../terminal/file-message.ts';
import { stdinText } from '../../terminal/stdin.ts';
import { Utf8Reader } from '../../terminal/utf8-reader.ts';
import { type GivenRecord, longestRecord, readRecords } from '../../transcripts/record-reading.ts';

/** Sent together: a server, or the store, commits them at once. */
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
  const counts = { imported: 0, failed: 0 };
  let lastStatus = 0;
  // Each of those that are sent together listens to it.
  setMaxListeners(0, context.stopSignal);
  const finish = async (outcomes: readonly Outcome[]) => {
    for (const { result, error, place } of outcomes) {
      await writeResults([result], context);
      if (error === null) {
        counts.imported++;
        continue;
      }
      counts.failed++;
      await context.say(`At ${place}:`);
      lastStatus = await tellFailure(error, context);
    }
  };
  try {
    let waiting: GivenRecord[] = [];
    for await (const record of readRecords(
      textOf(path, context),
      path === '-' ? 'Standard input' : `The file ${path}`,
    )) {
      waiting.push(record);
      if (waiting.length < together) continue;
      await finish(await importTogether(waiting, context));
      waiting = [];
    }
    await finish(await importTogether(waiting, context));
  } finally {
    const { imported, failed } = counts;
    if (imported + failed > 1)
      await context.say(`${imported} imported${failed > 0 ? `, ${failed} failed` : ''}`);
  }
  if (counts.failed === 0) return 0;
  return counts.imported + counts.failed === 1 ? lastStatus : exitSomeFailed;
}

async function* textOf(path: string, context: CliContext): AsyncGenerator<string, void> {
  if (path === '-') {
    yield* stdinText(context.reading('exported sessions', 'a file may be named instead'), null);
    return;
  }
  const reader = new Utf8Reader({ name: `The file ${path}`, limit: null });
  try {
    for await (const bytes of fileBytes(path, context.stopSignal)) yield reader.push(bytes);
    yield reader.end();
  } catch (error) {
    context.stopSignal.throwIfAborted();
    if (error instanceof ParleyError) throw error;
    throw unreadableFile(
      path,
      error,
      'Name a file that parley sessions export --format json has written, or - for stdin.',
    );
  }
}

async function importTogether(
  records: readonly GivenRecord[],
  context: CliContext,
): Promise<readonly Outcome[]> {
  return Promise.all(records.map((record) => importOne(record, context)));
}

/** What would fail for all others too is thrown: a refused key, no network, a full disk, a server without the archive. */
async function importOne({ place, value, isTooLong }: GivenRecord, context: CliContext): Promise<Outcome> {
  const session_id = idOf(value) ?? place;
  try {
    if (isTooLong) throw tooLong(place);
    if (value === undefined) throw notJson(place);
    const { backend } = await context.open();
    const call = { ...(await context.call()), signal: context.stopSignal };
    // What it is, is checked where it is kept.
    await backend.archive.importSession(call, value as SessionRecord);
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
