// opencode's files before version 1.2: `storage/session/PROJECT/SESSION.json`, and for each message and part
// `storage/message/SESSION/MESSAGE.json` and `storage/part/MESSAGE/PART.json`. Before 0.6 each project had a `storage` of its own, with
// `session/info/SESSION.json`, `session/message/SESSION/MESSAGE.json` and `session/part/SESSION/MESSAGE/PART.json`. The ids are taken from the file
// names, as opencode does, because files were moved without changing their contents.
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ParleyError } from '../../../service/errors.ts';
import { unreadableFile } from '../../terminal/file-message.ts';
import { type ForeignFields, fieldsOf, listOf, timeOfMilliseconds } from '../foreign-value.ts';
import { importLimits, tooMany } from '../import-limits.ts';
import { broken, isTooDeep, parsedItem } from '../json-items.ts';
import type { ReadOptions, SourceFile } from '../source.ts';

interface StoredSession {
  readonly id: string;
  readonly info: ForeignFields;
  readonly messages: readonly {
    readonly id: string;
    readonly message: ForeignFields;
    readonly parts: readonly ForeignFields[];
  }[];
}

const sessionPath = /[\\/]storage[\\/]session[\\/](?!share[\\/])[^\\/]+[\\/]ses_\w+\.json$/;
const earlySessionPath = /[\\/]storage[\\/]session[\\/]info[\\/]ses_\w+\.json$/;
const innerPath =
  /[\\/]storage[\\/](migration|((session[\\/])?message[\\/]ses_\w+[\\/]\w+|(part|session[\\/]part[\\/]ses_\w+)[\\/]msg_\w+[\\/]\w+|project[\\/](global|[0-9a-f]{40})|(session[\\/])?\w+[\\/]ses_\w+)\.json)$/;

export function isStoredFile(path: string): boolean {
  return sessionPath.test(path) || innerPath.test(path);
}

/** Null for a file that is not a session: messages and parts are read with their session. Throws if the session cannot be read completely. */
export async function storedSession(
  { path, local }: SourceFile,
  { signal }: ReadOptions,
): Promise<StoredSession | null> {
  if (!sessionPath.test(path)) return null;
  if (local === null) {
    throw new ParleyError('INVALID_REQUEST', `The messages of ${path} are in other files.`, {
      hint: 'Unpack the archive and name the directory storage.',
    });
  }
  const id = basename(local, '.json');
  const isEarly = earlySessionPath.test(local);
  const storage = dirname(dirname(isEarly ? local : dirname(local)));
  const partsOf = (message: string) => join(storage, 'part', ...(isEarly ? [id] : []), message);
  const reader = new SessionFileReader();
  const info = reader.fields(local);
  const messages: { id: string; message: ForeignFields; parts: readonly ForeignFields[] }[] = [];
  for (const file of filesIn(join(storage, 'message', id))) {
    signal.throwIfAborted();
    const own = basename(file, '.json');
    const message = reader.fields(file);
    const parts = filesIn(partsOf(own)).map((part) => reader.fields(part));
    messages.push({
      id: own,
      message,
      parts: parts.length > 0 ? parts : listOf(message['parts']).map(fieldsOf),
    });
  }
  const timeOf = (message: ForeignFields) => timeOfMilliseconds(fieldsOf(message['time'])['created']) ?? 0;
  // The sort is stable, and the names are in the order of their times, too.
  messages.sort((one, other) => timeOf(one.message) - timeOf(other.message));
  return { id, info, messages };
}

/** Reads JSON files within the limits of one conversation. */
class SessionFileReader {
  #bytes = 0;
  #files = 0;

  fields(path: string): ForeignFields {
    this.#files += 1;
    this.#bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (this.#bytes > importLimits.itemBytes)
      throw tooMany(path, `makes its session longer than ${importLimits.itemBytes} bytes`);
    if (this.#files > importLimits.messages)
      throw tooMany(path, `exceeds the limit of ${importLimits.messages} files of a session`);
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      throw unreadableFile(path, error, 'Name a readable directory.');
    }
    if (isTooDeep(bytes)) throw broken(path, `is nested deeper than ${importLimits.depth}`);
    const { value, failure } = parsedItem(path, bytes);
    if (failure !== null) throw failure;
    if (fieldsOf(value) !== value) throw broken(path, 'is not an object');
    return fieldsOf(value);
  }
}

/** The regular files in the order of their names; none if the directory is missing or a link. */
function filesIn(path: string): readonly string[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^\w+\.json$/.test(entry.name))
    .map(({ name }) => join(path, name))
    .sort();
}
