// What a source is: a program or a service whose conversations can be imported. To add one, write a file beside the others in sources/ and
// name it in source-table.ts.
import type { OpenDatabase } from '../../system/open-database.ts';
import type { SourceReading } from './conversation.ts';

export const sourceNames = [
  'chatgpt',
  'claude',
  'claude-code',
  'codex',
  'gemini-cli',
  'opencode',
  'llm',
  'aichat',
  'openai',
] as const;

export type SourceName = (typeof sourceNames)[number];

/** Where a file is found again. */
export interface FilePlace {
  /** Its own path, or that of the archive that it is in. */
  readonly path: string;
  /** Of all that the path gives: 0 for the first. */
  readonly number: number;
}

/** A file that was given, or that lies in a given directory or archive. */
export interface SourceFile {
  /** How results name it: `export.zip/conversations.json`. */
  readonly path: string;
  readonly bytes: number;
  /** When it was last written, in epoch milliseconds; null if that is not known. */
  readonly modified: number | null;
  /** The path on this machine; null for a part of an archive and for standard input. */
  readonly local: string | null;
  /** Null for a file that can be read once. */
  readonly place: FilePlace | null;
  /** Reads it from its beginning. It may be read more than once, but not standard input. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** What is known of a file before it is read. */
export interface FileHead {
  /** The last part of its path. */
  readonly name: string;
  readonly path: string;
  /** The first 64 KiB, as text. */
  readonly text: string;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Where copies of databases are made. It is removed afterwards. */
  temporaryDirectory(): string;
  readonly openDatabase: OpenDatabase;
}

/** A place of a source on this machine. */
export interface HeldPlace {
  readonly path: string;
  /** The files that hold conversations. */
  readonly pattern: RegExp;
  /** After how many days the program deletes a file that nobody writes to; null if it keeps files. */
  readonly keptDays: number | null;
}

export interface SearchedMachine {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Source {
  readonly name: SourceName;
  /** For people: `ChatGPT export`. */
  readonly title: string;
  /** The versions that the fixtures come from. */
  readonly tried: string;
  recognises(head: FileHead): boolean;
  /** The paths of the files that its exports have beside the conversations; missing if there are none. */
  readonly companions?: RegExp;
  /** Yields what the file holds, in its order. Throws only for a file that cannot be read at all. */
  read(file: SourceFile, options: ReadOptions): AsyncIterable<SourceReading>;
  /** Where the program keeps its conversations on this machine; missing for a service that keeps none here. */
  places?(machine: SearchedMachine): readonly HeldPlace[];
}
