// The files of a zip archive, read in place: nothing is unpacked to the disk. A name that leads out of the archive, an encrypted file and
// one that grows beyond measure are refused, and the others are read.
import type { Entry, ZipFile } from 'yauzl';
import yauzl from 'yauzl';
import { ParleyError } from '../../service/errors.ts';
import { type FoundFile, tooMany } from './found-file.ts';
import { importLimits } from './import-limits.ts';
import type { FilePlace } from './source.ts';

export async function* filesOfZip(path: string): AsyncGenerator<FoundFile, void> {
  let zip: ZipFile;
  try {
    zip = await yauzl.openPromise(path, { autoClose: false, lazyEntries: true, decodeStrings: false });
  } catch (error) {
    throw broken(path, error);
  }
  try {
    if (zip.entryCount > importLimits.files)
      throw tooMany(path, `holds more than ${importLimits.files} files`);
    const entries = zip.eachEntry();
    const room = new ArchiveRoom(zip.fileSize);
    let number = 0;
    for (;;) {
      const next = await entries.next().catch((error: unknown) => {
        throw broken(path, error);
      });
      if (next.done === true) return;
      const found = fileOf({ path, number }, zip, next.value, room);
      if (found === null) continue;
      yield found;
      number += 1;
    }
  } finally {
    zip.close();
  }
}

/** Null for a directory. */
function fileOf(place: FilePlace, zip: ZipFile, entry: Entry, room: ArchiveRoom): FoundFile | null {
  const { generalPurposeBitFlag, fileNameRaw, extraFields, uncompressedSize, compressedSize } = entry;
  const name = yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
  if (name.endsWith('/')) return null;
  const whole = `${place.path}/${name}`;
  const fault = yauzl.validateFileName(name);
  if (fault !== null)
    return { path: whole, failure: refused(whole, 'has a name that leads out of the archive') };
  if (entry.isEncrypted()) return { path: whole, failure: refused(whole, 'is encrypted') };
  if (!entry.canDecodeFileData())
    return { path: whole, failure: refused(whole, 'is compressed in a way that is not known') };
  if (isBomb(uncompressedSize, compressedSize))
    return {
      path: whole,
      failure: tooMany(whole, `is ${uncompressedSize} bytes, compressed to ${compressedSize}`),
    };
  if (!room.take(uncompressedSize))
    return {
      path: whole,
      failure: tooMany(whole, 'makes the files of the archive too large, compared with the archive'),
    };
  const file = {
    path: whole,
    bytes: uncompressedSize,
    modified: validTime(entry.getLastModDate({ timezone: 'UTC' })),
    local: null,
    place,
    async *open(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
      try {
        const stream = await zip.openReadStreamPromise(entry);
        const stop = () => stream.destroy();
        signal.addEventListener('abort', stop);
        try {
          for await (const bytes of stream) yield bytes;
        } finally {
          signal.removeEventListener('abort', stop);
        }
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof ParleyError ? error : broken(whole, error);
      }
      signal.throwIfAborted();
    },
  };
  return { file, isNamed: false };
}

/** How many bytes the files of an archive may have together. Several files may share the same compressed bytes. */
class ArchiveRoom {
  readonly #archiveBytes: number;
  #taken = 0;

  constructor(archiveBytes: number) {
    this.#archiveBytes = archiveBytes;
  }

  /** False if the file is too large for the archive, together with those before it. */
  take(bytes: number): boolean {
    if (isBomb(this.#taken + bytes, this.#archiveBytes)) return false;
    this.#taken += bytes;
    return true;
  }
}

function isBomb(bytes: number, compressed: number): boolean {
  return bytes > importLimits.bombBytes && bytes > importLimits.bombRatio * compressed;
}

function validTime(date: Date): number | null {
  return Number.isNaN(date.getTime()) ? null : date.getTime();
}

function refused(path: string, problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `${path} ${problem}.`, {
    hint: 'It was not read; the rest was.',
  });
}

function broken(path: string, cause: unknown): ParleyError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('INVALID_REQUEST', `The archive ${path} cannot be read: ${why}.`, {
    hint: 'Fetch it once more, and try whether unzip reads it.',
    cause,
  });
}
