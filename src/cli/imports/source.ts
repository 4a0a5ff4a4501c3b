// A source is a program or a service whose conversations can be imported. To add one, write a file in sources/ and list it in source-table.ts.
import type { ParleyError } from '../../service/errors.ts';
import type { OpenDatabase } from '../../system/open-database.ts';
import type { Environment } from '../terminal/style.ts';
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

/** How to find a file again. */
export interface FilePlace {
  /** The path of the file, or of its archive. */
  readonly path: string;
  /** The index of the file among those of the path. */
  readonly number: number;
}

/** A file to import, which may be part of a directory or an archive. */
export interface SourceFile {
  /** The name in results: `export.zip/conversations.json`. */
  readonly path: string;
  readonly bytes: number;
  /** When it was last written, in epoch milliseconds; null if unknown. */
  readonly modified: number | null;
  /** The path on this machine; null for a part of an archive and for standard input. */
  readonly local: string | null;
  /** Null for a file that can be read only once. */
  readonly place: FilePlace | null;
  /** Reads the file from its beginning. Everything but standard input can be read more than once. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A file, and whether the user named it itself. */
export interface NamedFile {
  readonly file: SourceFile;
  readonly isNamed: boolean;
}

/** A file of an import, or why a file or directory is skipped. */
export type FoundFile =
  | NamedFile
  | { readonly path: string; readonly failure: ParleyError }
  | { readonly path: string; readonly skipped: string };

/** The beginning of a file, by which sources recognise it. */
export interface FileHead {
  /** The last part of its path. */
  readonly name: string;
  readonly path: string;
  /** The first 64 KiB, as text. */
  readonly text: string;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** The directory for copies of databases. It is removed afterwards. */
  temporaryDirectory(): string;
  readonly openDatabase: OpenDatabase;
}

/** A file or directory where a program keeps conversations. */
export interface ConversationPlace {
  readonly path: string;
  /** Matches the files with conversations. */
  readonly pattern: RegExp;
  /** After how many days the program deletes an unused file; null if it keeps files. */
  readonly keptDays: number | null;
}

export interface ScannedMachine {
  readonly home: string;
  readonly env: Environment;
}

/**
 * The directories where a program of this name may keep its configuration on Linux, macOS and Windows. A directory that does not exist holds no
 * conversations.
 */
export function configDirectories({ home, env }: ScannedMachine, name: string): readonly string[] {
  const roots = [env['XDG_CONFIG_HOME'] ?? `${home}/.config`, `${home}/Library/Application Support`];
  if (env['APPDATA'] !== undefined) roots.push(env['APPDATA']);
  return roots.map((root) => `${root}/${name}`);
}

export interface Source {
  readonly name: SourceName;
  /** For people: `ChatGPT export`. */
  readonly title: string;
  recognises(head: FileHead): boolean;
  /** Matches other files in its exports; undefined if there are none. */
  readonly companions?: RegExp;
  /** Yields the contents of the file in order. Throws only if the file cannot be read at all. */
  read(file: SourceFile, options: ReadOptions): AsyncIterable<SourceReading>;
  /** Where the program keeps its conversations on this machine; undefined for a service. */
  places?(machine: ScannedMachine): readonly ConversationPlace[];
}
