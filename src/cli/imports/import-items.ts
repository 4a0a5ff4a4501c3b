// Reads the files of an import one by one, and yields the sessions to store.
import { basename } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { unforeseenFileFailure } from '../../system/file-failure.ts';
import { Utf8Reader } from '../terminal/utf8-reader.ts';
import { readRecords } from '../transcripts/exported-records.ts';
import { exportedText } from './exported-text.ts';
import { countedBytes, type ForeignOptions, foreignItems, nameOf } from './foreign-items.ts';
import type { ImportItem } from './import-item.ts';
import type { FileHead, FoundFile, NamedFile, SourceFile, SourceName } from './source.ts';
import { isCompanion, sourceNamed, sourceOf } from './source-table.ts';
import { placeForThread, threadedItems } from './threaded-items.ts';

interface ItemOptions extends ForeignOptions {
  /** `parley` for sessions that Parley exported; null to detect the source of each file. */
  readonly from: SourceName | 'parley' | null;
  /** True if the user named several paths. */
  readonly hasSeveral: boolean;
  /** Called for a file of a directory or an archive that is skipped. `isCompanion` is true for a file that exports contain besides conversations. */
  onSkip(path: string, isCompanion: boolean): void;
}

const headBytes = 64 * 1024;

export async function* readItems(
  files: AsyncIterable<FoundFile>,
  options: ItemOptions,
): AsyncGenerator<ImportItem, void> {
  const counter = { bytes: 0 };
  const item = (place: string, found: ImportItem['found']): ImportItem => {
    return { place, origin: null, found, end: counter.bytes };
  };
  for await (const found of files) {
    options.signal.throwIfAborted();
    if ('failure' in found) yield item(found.path, { failure: found.failure });
    else if ('skipped' in found) yield item(found.path, { skipped: found.skipped });
    else {
      const { file, isNamed } = found;
      try {
        for await (const one of itemsOf(found, counter, options)) {
          const isIncomplete = isNamed && options.hasSeveral && one.place !== file.path;
          yield isIncomplete ? { ...one, place: `${file.path}, ${one.place}` } : one;
        }
      } catch (error) {
        options.signal.throwIfAborted();
        const failure = error instanceof ParleyError ? error : unforeseenFileFailure(error);
        // If only this file is named, its failure is the failure of the command.
        if ((isNamed && !options.hasSeveral) || failure === null) throw error;
        yield item(file.path, { failure });
      }
    }
  }
}

async function* itemsOf(
  { file, isNamed }: NamedFile,
  counter: { bytes: number },
  options: ItemOptions,
): AsyncGenerator<ImportItem, void> {
  const bytesBefore = counter.bytes;
  const counted = countedBytes(file.open(options.signal), counter);
  try {
    const { head, chunks } = await readHead(counted, file);
    const { from } = options;
    const isExport = isParleyExport(head);
    if (isStoreBackup(head)) {
      if (isNamed) throw storeBackup(file);
      options.onSkip(file.path, false);
      return;
    }
    const recognised = from === null && !isExport ? sourceOf(head) : null;
    const source = from === null || from === 'parley' ? recognised : sourceNamed(from);
    const place = source && placeForThread(source, file);
    if (!isNamed && recognised === null && !isExport && isCompanion(file.path, from))
      options.onSkip(file.path, true);
    else if (source !== null && place !== null) {
      await counted.return();
      const { messagesOnly, now, signal } = options;
      const task = { source: source.name, place, isNamed, messagesOnly, now, bytesBefore };
      for await (const item of threadedItems(task, signal)) {
        counter.bytes = item.end;
        yield item;
      }
      counter.bytes = bytesBefore + file.bytes;
    } else if (source !== null) {
      const readFile = { ...file, open: () => chunks };
      yield* foreignItems(source, { file: readFile, isNamed }, counter, options);
    } else if (isNamed || from === 'parley' || isExport) {
      if (from === null && !isExport) refuseBinary(head, file);
      const text = isExport ? exportedText(chunks) : textOf(chunks, nameOf(file.path));
      yield* exportedItems(text, { file, isNamed }, counter);
    } else options.onSkip(file.path, false);
  } finally {
    await counted.return();
  }
}

/** The sessions that Parley exported. The service validates them. */
async function* exportedItems(
  text: AsyncIterable<string>,
  { file: { path }, isNamed }: NamedFile,
  counter: { readonly bytes: number },
): AsyncGenerator<ImportItem, void> {
  for await (const { place: placeInFile, value, isTooLong } of readRecords(text, nameOf(path))) {
    const place = isNamed ? placeInFile : `${path}, ${placeInFile}`;
    const isReadable = !isTooLong && value !== undefined;
    yield {
      place,
      origin: null,
      end: counter.bytes,
      found: isReadable
        ? { session: { record: value as SessionRecord, branch: null } }
        : { failure: unreadable(place, isTooLong) },
    };
  }
}

/** True for a backup of a store, whose lines look like those of another program. */
function isStoreBackup({ text }: FileHead): boolean {
  return /^\{"kind":"backup","format":\d/.test(text);
}

function storeBackup({ path }: SourceFile): ParleyError {
  return new ParleyError('USAGE', `${nameOf(path)} is a backup of a store.`, {
    hint: 'Nothing was imported. To make a store of it: parley store restore FILE',
  });
}

/** Throws `USAGE` for the head of a file that is no text. U+FFFD at its beginning is the mark of another encoding, whose failure says how to convert it. */
function refuseBinary({ text }: FileHead, { path }: SourceFile): void {
  if (!text.includes('\0') || text.startsWith('\ufffd')) return;
  throw new ParleyError('USAGE', `${nameOf(path)} is not recognised.`, {
    hint: 'Nothing was imported. Use --from to name the source.',
  });
}

/** Reads the head of a file, and returns it with all chunks, because the bytes can be read only once. */
async function readHead(
  chunks: AsyncGenerator<Uint8Array, void>,
  { path }: SourceFile,
): Promise<{ readonly head: FileHead; readonly chunks: AsyncIterable<Uint8Array> }> {
  const first: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  while (size < headBytes && !isOver) {
    const next = await chunks.next();
    isOver = next.done === true;
    if (next.done === true) break;
    first.push(next.value);
    size += next.value.length;
  }
  const text = Buffer.concat(first)
    .subarray(0, headBytes)
    .toString()
    .replace(/^\ufeff/, '');
  async function* all(): AsyncGenerator<Uint8Array, void> {
    for (let chunk = first.shift(); chunk !== undefined; chunk = first.shift()) yield chunk;
    if (!isOver) yield* chunks;
  }
  return { head: { name: basename(path), path, text }, chunks: all() };
}

function isParleyExport({ text }: FileHead): boolean {
  return /^\uFEFF?\s*\[?\s*\{\s*"session":\s*\{\s*"session_id":/.test(text);
}

async function* textOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string, void> {
  const reader = new Utf8Reader({ name, limit: null });
  for await (const bytes of chunks) yield reader.push(bytes);
  yield reader.end();
}

function unreadable(place: string, isTooLong: boolean): ParleyError {
  if (isTooLong)
    return new ParleyError('PAYLOAD_TOO_LARGE', `The data at ${place} is longer than a session may be.`, {
      hint: 'It was skipped. Each line must contain one session.',
    });
  return new ParleyError('USAGE', `The data at ${place} is not JSON.`, {
    hint: 'It was skipped. Each line must contain one session, as written by export --format json.',
  });
}
