// Reads the files of a zip archive without unpacking it to disk. Refuses names that lead out of the archive, encrypted files and zip bombs; the
// other files are read.
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import yauzl from 'yauzl';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { validTime } from './foreign-value.ts';
import { importLimits, tooMany } from './import-limits.ts';
import type { FilePlace, FoundFile } from './source.ts';

export async function* filesOfZip(path: string): AsyncGenerator<FoundFile, void> {
  let zip: ZipFile;
  try {
    zip = await yauzl.openPromise(path, { autoClose: false, lazyEntries: true, decodeStrings: false });
  } catch (error) {
    throw broken(path, error);
  }
  try {
    if (zip.entryCount > importLimits.files)
      throw tooMany(path, `contains more than ${importLimits.files} files`);
    const entries = zip.eachEntry();
    const budget = new ArchiveBudget(zip.fileSize);
    let number = 0;
    for (;;) {
      const next = await entries.next().catch((error: unknown) => {
        throw broken(path, error);
      });
      if (next.done === true) return;
      const found = fileOf({ path, number }, zip, next.value, budget);
      if (found === null) continue;
      yield found;
      number += 1;
    }
  } finally {
    zip.close();
  }
}

/** Null for a directory. */
function fileOf(place: FilePlace, zip: ZipFile, entry: Entry, budget: ArchiveBudget): FoundFile | null {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
  const name = yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
  if (name.endsWith('/')) return null;
  const path = `${place.path}/${name}`;
  const failure = refusalOf(entry, { name, path }, budget);
  if (failure !== null) return { path, failure };
  const file = {
    path,
    bytes: entry.uncompressedSize,
    modified: validTime(entry.getLastModDate({ timezone: 'UTC' }).getTime()),
    local: null,
    place,
    open: (signal: AbortSignal) => bytesOf(entry, zip, path, signal),
  };
  return { file, isNamed: false };
}

/** Null for a file that can be read. */
function refusalOf(
  entry: Entry,
  { name, path }: { readonly name: string; readonly path: string },
  budget: ArchiveBudget,
): ParleyError | null {
  const { uncompressedSize: bytes, compressedSize } = entry;
  if (yauzl.validateFileName(name) !== null) return refused(path, 'has a name that leads out of the archive');
  if (entry.isEncrypted()) return refused(path, 'is encrypted');
  if (!entry.canDecodeFileData()) return refused(path, 'uses an unsupported compression method');
  if (isBomb(bytes, compressedSize))
    return tooMany(path, `is suspiciously large: ${bytes} bytes, compressed to ${compressedSize}`);
  if (!budget.add(bytes))
    return tooMany(path, 'makes the contents too large compared to the size of the archive');
  return null;
}

async function* bytesOf(
  entry: Entry,
  zip: ZipFile,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    const stream = await zip.openReadStreamPromise(entry);
    const stop = () => stream.destroy();
    signal.addEventListener('abort', stop);
    try {
      let sum = 0;
      for await (const bytes of stream) {
        sum = crc32(bytes, sum);
        yield bytes;
      }
      // yauzl compares only the sizes.
      if (sum !== entry.crc32) throw new Error('its checksum does not match');
    } finally {
      signal.removeEventListener('abort', stop);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ParleyError ? error : broken(path, error);
  }
  signal.throwIfAborted();
}

/** Limits the total size of the files of an archive, because several files may share the same compressed bytes. */
class ArchiveBudget {
  readonly #archiveBytes: number;
  #used = 0;

  constructor(archiveBytes: number) {
    this.#archiveBytes = archiveBytes;
  }

  /** Returns false if the files so far, with this one, are too large for the archive. */
  add(bytes: number): boolean {
    if (isBomb(this.#used + bytes, this.#archiveBytes)) return false;
    this.#used += bytes;
    return true;
  }
}

function isBomb(bytes: number, compressed: number): boolean {
  return bytes > importLimits.bombBytes && bytes > importLimits.bombRatio * compressed;
}

function refused(path: string, problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `${path} ${problem}.`, {
    hint: 'It was skipped; the rest was read.',
  });
}

function broken(path: string, cause: unknown): ParleyError {
  // Some messages of yauzl end in a full stop.
  const reason = reasonOf(cause).replace(/\.$/, '');
  return new ParleyError('INVALID_REQUEST', `Cannot read the archive ${path}: ${reason}.`, {
    hint: 'Download it again, and check whether unzip can read it.',
    cause,
  });
}
