// Reads what an import is given, file by file and conversation by conversation, and makes of each branch a session to store.
import { basename } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { Utf8Reader } from '../terminal/utf8-reader.ts';
import { readRecords } from '../transcripts/record-reading.ts';
import type { ForeignConversation } from './conversation.ts';
import { recordOf, sessionIdOf } from './conversation-record.ts';
import type { FoundFile } from './found-file.ts';
import { importLimits } from './import-limits.ts';
import type { FileHead, ReadOptions, Source, SourceFile, SourceName } from './source.ts';
import { isCompanion, sourceNamed, sourceOf } from './source-table.ts';

/** A session to store. `idOf` gives the id of its fork of a number; null for a session that keeps its own id. */
export interface ImportSession {
  readonly record: SessionRecord;
  readonly idOf: ((fork: number) => string) | null;
}

export interface ImportItem {
  /** Where it stands, with the file if several are read. */
  readonly place: string;
  /** The source and its id; null for a session of Parley and for what could not be read. */
  readonly origin: { readonly source: SourceName; readonly id: string } | null;
  readonly found:
    | { readonly session: ImportSession }
    | { readonly failure: ParleyError }
    | { readonly skipped: string };
  /** How far the files are read, in bytes. */
  readonly end: number;
}

export interface ItemOptions extends ReadOptions {
  /** `parley` for sessions that an export here has written; null to recognise each file. */
  readonly from: SourceName | 'parley' | null;
  readonly messagesOnly: boolean;
  /** Epoch milliseconds, for a conversation that tells no time in a file that has none. */
  readonly now: number;
  /** Called for a file of a directory or an archive that is left out. `isCompanion`: exports have it beside their conversations. */
  passed(path: string, isCompanion: boolean): void;
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
        yield* itemsOf(file, isNamed, counter, options);
      } catch (error) {
        options.signal.throwIfAborted();
        // A named file that cannot be read is the failure of the command.
        if (isNamed || !(error instanceof ParleyError)) throw error;
        yield item(file.path, { failure: error });
      }
    }
  }
}

async function* itemsOf(
  file: SourceFile,
  isNamed: boolean,
  counter: { bytes: number },
  options: ItemOptions,
): AsyncGenerator<ImportItem, void> {
  const counted = countedBytes(file.open(options.signal), counter);
  try {
    const { head, chunks } = await peeked(counted, file);
    const source = options.from === null && !isOwn(head) ? sourceOf(head) : null;
    const isBeside = !isNamed && source === null && !isOwn(head) && isCompanion(file.path, options.from);
    if (isBeside) options.passed(file.path, true);
    else if (options.from !== null && options.from !== 'parley') {
      yield* foreignItems(
        sourceNamed(options.from),
        { ...file, open: () => chunks },
        isNamed,
        counter,
        options,
      );
    } else if (source !== null) {
      yield* foreignItems(source, { ...file, open: () => chunks }, isNamed, counter, options);
    } else if (isNamed || options.from === 'parley' || isOwn(head)) {
      const name = file.path === '-' ? 'Standard input' : `The file ${file.path}`;
      for await (const { place, value, isTooLong } of readRecords(textOf(chunks, name), name)) {
        const at = isNamed ? place : `${file.path}, ${place}`;
        const record = value as SessionRecord;
        yield {
          ...{ place: at, origin: null, end: counter.bytes },
          found:
            isTooLong || value === undefined
              ? { failure: unreadable(at, isTooLong) }
              : { session: { record, idOf: null } },
        };
      }
    } else options.passed(file.path, false);
  } finally {
    await counted.return();
  }
}

async function* foreignItems(
  source: Source,
  file: SourceFile,
  isNamed: boolean,
  counter: { readonly bytes: number },
  options: ItemOptions,
): AsyncGenerator<ImportItem, void> {
  let isEmpty = true;
  for await (const reading of source.read(file, options)) {
    isEmpty = false;
    const place = isNamed ? reading.place : `${file.path}, ${reading.place}`;
    const at = { place, origin: null, end: counter.bytes };
    if ('failure' in reading) yield { ...at, found: { failure: reading.failure } };
    else if ('skipped' in reading) yield { ...at, found: { skipped: reading.skipped } };
    else {
      const { conversation } = reading;
      const origin = { source: source.name, id: conversation.id };
      for (const found of sessionsOf(conversation, source.name, file, options))
        yield { ...at, origin, found };
    }
  }
  if (isEmpty && isNamed) {
    throw new ParleyError(
      'USAGE',
      `${file.path === '-' ? 'Standard input' : `The file ${file.path}`} holds no conversation.`,
      {
        hint: `Nothing was imported. It was read as: ${source.title}.`,
      },
    );
  }
}

function* sessionsOf(
  conversation: ForeignConversation,
  source: SourceName,
  { modified }: SourceFile,
  { now, messagesOnly }: ItemOptions,
): Generator<ImportItem['found']> {
  const make = { source, fallbackTime: modified ?? now, messagesOnly };
  let count = 0;
  let branches = 0;
  for (const branch of conversation.branches) {
    branches += 1;
    if (branch.messages.length > importLimits.messages) {
      yield { skipped: 'too_many_messages' };
      continue;
    }
    const record = recordOf(conversation, branch, make);
    if (record === null) continue;
    count += 1;
    const idOf = (fork: number) =>
      fork === 0 ? record.session.session_id : sessionIdOf(source, conversation.id, branch.key, fork);
    yield { session: { record, idOf } };
  }
  if (count === 0) yield { skipped: 'empty' };
  if (branches >= importLimits.branches) yield { skipped: 'more_branches' };
}

async function* countedBytes(
  chunks: AsyncIterable<Uint8Array>,
  counter: { bytes: number },
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    counter.bytes += chunk.length;
    yield chunk;
  }
}

/** The beginning of the bytes, and all of them: they can be read once. */
async function peeked(
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

function isOwn({ text }: FileHead): boolean {
  return /^\uFEFF?\s*\[?\s*\{\s*"session":\s*\{\s*"session_id":/.test(text);
}

async function* textOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string, void> {
  const reader = new Utf8Reader({ name, limit: null });
  for await (const bytes of chunks) yield reader.push(bytes);
  yield reader.end();
}

function unreadable(place: string, isTooLong: boolean): ParleyError {
  if (isTooLong)
    return new ParleyError('PAYLOAD_TOO_LARGE', `What stands at ${place} is longer than a session may be.`, {
      hint: 'Nothing of it was kept. A line holds one session.',
    });
  return new ParleyError('USAGE', `What stands at ${place} is not JSON.`, {
    hint: 'Nothing of it was kept. A line holds one session, as export --format json writes it.',
  });
}
