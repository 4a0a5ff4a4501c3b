// Reads a file of another program, and turns each branch of its conversations into a session to store.
import { ParleyError } from '../../service/errors.ts';
import type { ForeignConversation } from './conversation.ts';
import { recordOf } from './conversation-record.ts';
import type { ImportItem } from './import-item.ts';
import { importLimits } from './import-limits.ts';
import type { NamedFile, ReadOptions, Source, SourceFile, SourceName } from './source.ts';

export interface ForeignOptions extends ReadOptions {
  readonly messagesOnly: boolean;
  /** Epoch milliseconds. The time of conversations without times in files without times. */
  readonly now: number;
}

/** `counter` has the bytes that were read so far. */
export async function* foreignItems(
  source: Source,
  { file, isNamed }: NamedFile,
  counter: { readonly bytes: number },
  options: ForeignOptions,
): AsyncGenerator<ImportItem, void> {
  let isEmpty = true;
  for await (const reading of source.read(file, options)) {
    isEmpty = false;
    const inFile = reading.place === null ? [] : [reading.place];
    const place = (isNamed && inFile.length > 0 ? inFile : [file.path, ...inFile]).join(', ');
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
    throw new ParleyError('USAGE', `${nameOf(file.path)} contains no conversation.`, {
      hint: `Nothing was imported. The file was read as: ${source.title}.`,
    });
  }
}

/** The bytes of a file, which `counter` counts. */
export async function* countedBytes(
  chunks: AsyncIterable<Uint8Array>,
  counter: { bytes: number },
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    counter.bytes += chunk.length;
    yield chunk;
  }
}

export function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : `The file ${path}`;
}

function* sessionsOf(
  conversation: ForeignConversation,
  source: SourceName,
  { modified }: SourceFile,
  { now, messagesOnly }: ForeignOptions,
): Generator<ImportItem['found']> {
  const recordOptions = { source, fallbackTime: modified ?? now, messagesOnly };
  let count = 0;
  let branches = 0;
  for (const branch of conversation.branches) {
    branches += 1;
    if (branch.messages.length > importLimits.messages) {
      yield { skipped: 'too_many_messages' };
      continue;
    }
    const record = recordOf(conversation, branch, recordOptions);
    if (record === null) continue;
    count += 1;
    yield { session: { record, branch: { source, conversation: conversation.id, branch: branch.key } } };
  }
  if (count === 0) yield { skipped: 'empty' };
  if (branches >= importLimits.branches) yield { skipped: 'more_branches' };
}
