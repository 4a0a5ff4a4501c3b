// Where the results of a batch go, and by which name the service knows the batch: to stdout, or on to the file of an earlier run.
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { syncDirectory } from '../../system/directories.ts';
import { isDiskFull } from '../../system/file-errors.ts';
import type { CliContext } from '../context.ts';
import { BatchRecords } from './batch-record.ts';
import { readResumedOutput } from './resumed-output.ts';

export interface BatchDestination {
  /** Names the batch for the service. */
  readonly batch: string;
  /** The keys of the ids that an earlier run has answered. */
  readonly answered: ReadonlySet<string | number>;
  /** The session that an earlier run told last. */
  readonly session_id: string | null;
  /** Whole lines; resolves when there is room for more. */
  write(text: string): Promise<void>;
  /** All is written. What is in a file of its own is on disk when it resolves; standard output belongs to whoever redirected it. */
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
      // The batch itself is not in danger, and what it says of a resumption stays true but for what is under way at a kill.
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
  return {
    batch,
    answered: output.answered,
    session_id: output.session_id,
    async write(text) {
      try {
        await file.appendFile(text);
      } catch (cause) {
        throw unwritten(resume, cause);
      }
    },
    async keep() {
      try {
        await file.sync();
        // The file may be a new one.
        syncDirectory(dirname(resolve(resume)));
      } catch (cause) {
        throw unwritten(resume, cause);
      }
    },
    async close() {
      try {
        // A file system may tell only now that it could not write.
        await file.close();
      } catch (cause) {
        throw unwritten(resume, cause);
      } finally {
        letGo();
      }
    },
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
