// Where the results of a batch go: to stdout, or to the end of the file of an earlier run. The name of the batch follows from that place.
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { syncDirectory } from '../../system/directories.ts';
import { isDiskFull } from '../../system/file-errors.ts';
import type { CliContext } from '../context.ts';
import { BatchRecords } from './batch-record.ts';
import { readResumedOutput } from './resumed-output.ts';

export interface BatchDestination {
  /** The name of the batch, from which the idempotency keys of its requests are made. */
  readonly batch: string;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** The session of the last result of an earlier run that names one. */
  readonly session_id: string | null;
  /** Whole lines; resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** Is called when all is written. A file that was resumed is on disk when it resolves; stdout belongs to whoever redirected it. */
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
      // Without a record the batch runs as well. Only lines that are under way at a kill are then sent as new.
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
  const letGo = await records.hold(resume, host.locks);
  try {
    return await resumedDestination(resume, { records, fresh, keep, letGo }, context);
  } catch (error) {
    letGo();
    throw error;
  }
}

interface Resumption {
  readonly records: BatchRecords;
  readonly fresh: () => string;
  readonly keep: (file: string, batch: string) => void;
  readonly letGo: () => void;
}

async function resumedDestination(
  resume: string,
  { records, fresh, keep, letGo }: Resumption,
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
  const orTell = async (step: () => Promise<void>) => {
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
    write: (text) => orTell(() => file.appendFile(text)),
    keep: () =>
      orTell(async () => {
        await file.sync();
        // The file may be a new one.
        syncDirectory(dirname(resolve(resume)));
      }),
    // A file system may tell only at the close that it could not write.
    close: () => orTell(() => file.close()).finally(letGo),
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
