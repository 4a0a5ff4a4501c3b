// The destination of a batch's results: stdout, or the end of the file of an earlier run. The name of the batch depends on it.
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { syncDirectory } from '../../system/directories.ts';
import { isDiskFull } from '../../system/file-errors.ts';
import type { CliContext } from '../context.ts';
import { BatchRecords } from './batch-record.ts';
import { readResumedOutput } from './resumed-output.ts';

export interface BatchDestination {
  /** The name of the batch. The idempotency keys of its requests are made from it. */
  readonly batch: string;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** The session of the last result of an earlier run that names one. */
  readonly session_id: string | null;
  /** Writes whole lines. Resolves when there is room for more. */
  write(text: string): Promise<void>;
  /**
   * Call it after the last write. A resumed file is on disk when it resolves. The durability of stdout is left to the shell that redirected
   * it.
   */
  keep(): Promise<void>;
  close(): Promise<void>;
}

export async function openDestination(resume: string | null, context: CliContext): Promise<BatchDestination> {
  const { host } = context;
  const records = new BatchRecords(host.dataDirectory, host.now);
  const fresh = () => createHash('sha256').update(host.newRequestId()).digest('base64url').slice(0, 16);
  const keep = (file: string, batch: string) => {
    try {
      records.keep(file, batch);
    } catch {
      // The batch also runs without a record. Only the lines that run when the process is killed are sent as new lines later.
    }
  };
  if (resume === null) {
    const batch = fresh();
    const file = host.outputFile();
    if (file !== null) keep(file, batch);
    const { stdout } = context;
    return {
      batch,
      answered: new Set(),
      session_id: null,
      write: (text) => stdout.write(text),
      keep: async () => {},
      close: async () => {},
    };
  }
  const release = await records.hold(resume, host.locks);
  try {
    return await resumedDestination(resume, { records, fresh, keep, release }, context);
  } catch (error) {
    release();
    throw error;
  }
}

interface Resumption {
  readonly records: BatchRecords;
  readonly fresh: () => string;
  readonly keep: (file: string, batch: string) => void;
  readonly release: () => void;
}

async function resumedDestination(
  resume: string,
  { records, fresh, keep, release }: Resumption,
  context: CliContext,
): Promise<BatchDestination> {
  const output = await readResumedOutput(resume);
  const known = output.found === null ? null : records.find(output.found);
  const batch = known ?? fresh();
  if (known === null && output.answered.size > 0) {
    await context.say(
      `There is no record of the batch of ${resume} here from the last 24 hours: lines that were under way when it stopped are sent as new.`,
    );
  }
  const file = await output.open((identity) => keep(identity, batch));
  const orReport = async (step: () => Promise<void>) => {
    try {
      await step();
    } catch (cause) {
      throw unwritten(resume, cause);
    }
  };
  return {
    batch,
    answered: output.answered,
    session_id: output.session_id,
    write: (text) => orReport(() => file.appendFile(text)),
    keep: () =>
      orReport(async () => {
        await file.sync();
        // The file may be new.
        syncDirectory(dirname(resolve(resume)));
      }),
    // Some file systems report a failed write only at the close.
    close: () => orReport(() => file.close()).finally(release),
  };
}

function unwritten(file: string, cause: unknown): ParleyError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError(
    isDiskFull(cause) ? 'STORAGE_FULL' : 'CONFIG',
    `${file} could not be written: ${reason}.`,
    {
      hint: 'What is in it stays. Make room there, or mend the disk, then resume again.',
      cause,
    },
  );
}
