// The output file of a resumed batch: finds the ids that it answers, and prepares it for further results. Failures, which are retried, an
// incomplete last line, and what a power cut has left of lines are removed. A file with any other content stays unchanged.
import { createReadStream, fstatSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { AtomicFile } from '../../system/atomic-file.ts';
import { isDiskFull, systemErrorCode } from '../../system/file-errors.ts';
import { type ByteLine, byteLines } from '../terminal/byte-lines.ts';
import { identityOf } from '../terminal/file-identity.ts';
import { keyOf } from './batch-items.ts';

interface ResumedOutput {
  /** The keys of the ids that the file answers. */
  readonly answered: ReadonlySet<string | number>;
  /** The session of the last result that names one. */
  readonly session_id: string | null;
  /** The result of `identityOf` for the existing file; null if there was none. */
  readonly found: string | null;
  /**
   * Prepares the file and opens it. `onIdentity` is called with its identity. A rewritten file has a new identity and replaces the old file
   * only after that call.
   */
  open(onIdentity: (identity: string) => void): Promise<FileHandle>;
}

/** The most bytes of a line; no answer is longer. */
const maxResultBytes = 256 * 1024 * 1024;

interface Result {
  readonly key: string | number;
  readonly success: boolean;
  readonly session_id: string | null;
}

export async function readResumedOutput(name: string): Promise<ResumedOutput> {
  const path = await realpath(name).catch(() => name);
  const answered = new Set<string | number>();
  const found = await identityIn(path, name);
  let session_id: string | null = null;
  let end = 0;
  let isClosed = true;
  let superfluous = 0;
  if (found !== null) {
    for await (const line of resultLines(path, name)) {
      const { result } = line;
      if (result === null && !line.isTorn) break;
      session_id = result?.session_id ?? session_id;
      if (result?.success && !answered.has(result.key)) answered.add(result.key);
      else superfluous += 1;
      ({ end, isClosed } = line);
    }
  }
  return {
    answered,
    session_id,
    found,
    async open(onIdentity) {
      try {
        if (superfluous > 0) await rewrite({ path, name }, onIdentity);
        const file = await open(path, 'a', 0o600);
        if (superfluous === 0) {
          await file.truncate(end);
          if (!isClosed) await file.appendFile('\n');
        }
        const identity = identityOf(await file.stat({ bigint: true }));
        if (identity !== null) onIdentity(identity);
        return file;
      } catch (error) {
        throw failure(name, 'written', error);
      }
    },
  };
}

async function identityIn(path: string, name: string): Promise<string | null> {
  try {
    const identity = identityOf(await stat(path, { bigint: true }));
    if (identity !== null) return identity;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw failure(name, 'read', error);
  }
  throw new ParleyError('USAGE', `Cannot resume a batch in ${name}: it is not a file.`, {
    hint: 'Name the file with the results of the batch.',
  });
}

/** Yields the results. `result` is null for an incomplete last line, and for a torn line. */
async function* resultLines(path: string, name: string) {
  try {
    for await (const line of byteLines(createReadStream(path), maxResultBytes)) {
      const { number, end, isClosed } = line;
      const bytes = line.bytes ?? new Uint8Array(0);
      const result = resultOf(bytes);
      const isTorn = result === null && isTornLine(line);
      if (result === null && !isTorn && (isClosed || !beginsAsResult(bytes))) throw foreign(name, number);
      yield { result, isTorn, bytes, end, isClosed };
    }
  } catch (error) {
    throw failure(name, 'read', error);
  }
}

const resultBeginning = '{"id":';

/** True for a last line that may be a cut result. Any other last line is not from a batch. */
function beginsAsResult(bytes: Uint8Array): boolean {
  const beginning = Buffer.from(bytes.subarray(0, resultBeginning.length)).toString('latin1');
  return beginning !== '' && resultBeginning.startsWith(beginning);
}

/** The unit that a disk writes whole, in bytes. */
const sectorBytes = 512;

/**
 * True for what a power cut has left of results. Bytes that did not reach the disk read as NULs, and no result contains a NUL. NULs that end
 * neither with a sector, nor with the file, nor before a result belong to a file that is not from a batch.
 */
function isTornLine({ bytes, end, isClosed }: ByteLine): boolean {
  if (!bytes?.includes(0)) return false;
  const text = Buffer.from(bytes).toString('latin1');
  const start = end - (isClosed ? 1 : 0) - bytes.length;
  const begin = text.indexOf('\0');
  return (
    (begin === 0 || beginsAsResult(bytes.subarray(0, begin))) &&
    (!isClosed || /[\0}]$/.test(text)) &&
    [...text.matchAll(/\0+/g)].every(({ index, 0: lost }) => {
      const after = index + lost.length;
      const isAtEnd = !isClosed && after === bytes.length;
      return isAtEnd || (start + after) % sectorBytes === 0 || resultOf(bytes.subarray(after)) !== null;
    })
  );
}

function resultOf(bytes: Uint8Array): Result | null {
  let value: { readonly [name: string]: unknown } | null;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return null;
  }
  const { id, success, data, error } = value ?? {};
  if (typeof success !== 'boolean' || (typeof id !== 'string' && typeof id !== 'number')) return null;
  const place = (success ? data : error) as { readonly session_id?: unknown } | null | undefined;
  const session_id = typeof place?.session_id === 'string' ? place.session_id : null;
  return { key: keyOf(id), success, session_id };
}

/** Writes the successes to a new file, which replaces this one when it is complete. */
async function rewrite(
  { path, name }: { readonly path: string; readonly name: string },
  onIdentity: (identity: string) => void,
): Promise<void> {
  const { mode } = await stat(path);
  const file = new AtomicFile(path, { replaces: true, durable: true, mode: mode & 0o777 });
  try {
    const keys = new Set<string | number>();
    let lines: Uint8Array[] = [];
    let size = 0;
    const flush = () => {
      file.write(Buffer.concat(lines));
      lines = [];
      size = 0;
    };
    for await (const { result, bytes } of resultLines(path, name)) {
      if (!result?.success || keys.has(result.key)) continue;
      keys.add(result.key);
      lines.push(bytes, lineEnd);
      size += bytes.length;
      if (size > 1024 * 1024) flush();
    }
    flush();
    const identity = identityOf(fstatSync(file.descriptor, { bigint: true }));
    if (identity !== null) onIdentity(identity);
    file.keep();
  } catch (error) {
    file.discard();
    throw error;
  }
}

const lineEnd = Buffer.from('\n');

function foreign(name: string, line: number): ParleyError {
  return new ParleyError('USAGE', `Line ${line} of ${name} is not the result of a batch.`, {
    hint: 'Nothing was done. Name the file with the results of the batch.',
    details: [{ field: `line ${line}`, problem: 'is not the result of a batch' }],
  });
}

function failure(name: string, action: 'read' | 'written', error: unknown): unknown {
  if (error instanceof ParleyError) return error;
  const reason = systemErrorCode(error) || reasonOf(error);
  return new ParleyError(
    isDiskFull(error) ? 'STORAGE_FULL' : 'USAGE',
    `${name} cannot be ${action} (${reason}).`,
    {
      hint: 'Name a file that you can read and write, on a disk with free space.',
      cause: error,
    },
  );
}
