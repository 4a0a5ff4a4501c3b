// The destination of a batch's results: stdout, or the output file of an earlier run. The name of the batch depends on it.
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { syncDirectory } from '../../system/directories.ts';
import { isDiskFull } from '../../system/file-errors.ts';
import { processIdentity } from '../../system/process-identity.ts';
import type { CliContext } from '../context.ts';
import { BatchRecords } from './batch-record.ts';
import { readResumedOutput } from './resumed-output.ts';

export interface BatchDestination {
  /** The name of the batch. Its idempotency keys contain it. */
  readonly batch: string;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** The session of the last result of an earlier run that names one. */
  readonly session_id: string | null;
  /** Writes complete lines. Resolves when more can be written. */
  write(text: string): Promise<void>;
  /**
   * Call it after the last write. Resolves when a resumed file is on disk. The durability of stdout is up to the shell that redirected it.
   */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export async function openDestination(resume: string | null, context: CliContext): Promise<BatchDestination> {
  const { host, stdout } = context;
  const records = new BatchRecords(host.dataDirectory, host.now, processIdentity(host.processes));
  if (resume === null) {
    const batch = newName(context);
    const file = host.outputFile();
    if (file !== null) records.store(file, batch);
    return {
      batch,
      answered: new Set(),
      session_id: null,
      write: (text) => stdout.write(text),
      sync: async () => {},
      close: async () => {
        if (file !== null) records.end(file, batch);
      },
    };
  }
  const release = await records.lock(resume, host.locks);
  try {
    return await resumedDestination(resume, records, release, context);
  } catch (error) {
    release();
    throw error;
  }
}

function newName({ host }: CliContext): string {
  return createHash('sha256').update(host.newRequestId()).digest('base64url').slice(0, 16);
}

async function resumedDestination(
  resume: string,
  records: BatchRecords,
  release: () => void,
  context: CliContext,
): Promise<BatchDestination> {
  const output = await readResumedOutput(resume);
  const known = output.found === null ? null : records.find(output.found);
  if (known?.isInUse) throw inUse(resume);
  const batch = known?.batch ?? newName(context);
  if (known === null && output.answered.size > 0) {
    await context.say(
      `This machine has no record of the batch of ${resume} from the last 24 hours: lines that were running when it stopped are sent as new.`,
    );
  }
  let written = output.found;
  const file = await output.open((identity) => {
    written = identity;
    records.store(identity, batch);
  });
  const withFileFailure = async (step: () => Promise<void>) => {
    try {
      await step();
    } catch (cause) {
      throw writeFailure(resume, cause);
    }
  };
  return {
    batch,
    answered: output.answered,
    session_id: output.session_id,
    write: (text) => withFileFailure(() => file.appendFile(text)),
    sync: () =>
      withFileFailure(async () => {
        await file.sync();
        // The file may be new.
        syncDirectory(dirname(resolve(resume)));
      }),
    // Some file systems report a failed write only when the file is closed.
    close: () =>
      withFileFailure(() => file.close()).finally(() => {
        if (written !== null) records.end(written, batch);
        release();
      }),
  };
}

/** The first run of a batch writes to stdout, so it holds no lock of the file. */
function inUse(file: string): ParleyError {
  return new ParleyError('STORE_BUSY', `Another process of Parley is writing its results to ${file}.`, {
    hint: 'Wait for it, or stop it; then resume again.',
  });
}

function writeFailure(file: string, cause: unknown): ParleyError {
  return new ParleyError(
    isDiskFull(cause) ? 'STORAGE_FULL' : 'INTERNAL_ERROR',
    `${file} could not be written: ${reasonOf(cause)}.`,
    {
      hint: 'Its contents are kept. Free some space or fix the disk, then resume again.',
      cause,
    },
  );
}
