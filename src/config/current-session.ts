// Stores the session that was used last and its mode, per terminal, origin and key. Each is one small file that is replaced atomically, so
// that concurrent processes neither damage nor mix them up. system/terminal-identity.ts identifies the terminal.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { isSessionId } from '../service/session.ts';
import { replaceFile } from '../system/atomic-file.ts';
import { makePrivateDirectory } from '../system/directories.ts';
import { systemErrorCode } from '../system/file-errors.ts';
import { fileFailure } from '../system/file-failure.ts';
import { readSmallFile } from '../system/small-file.ts';

/** The terminal, server and key whose session is stored. */
export interface SessionHolder {
  readonly origin: string;
  readonly key: string;
  /** Null without a terminal: the last session of the origin and the key is then used. */
  readonly terminal: string | null;
}

export interface CurrentSession {
  readonly sessionId: string;
  /** The mode of its last turn from this terminal. Null if there was none. */
  readonly mode: string | null;
  /** The extensions that the server reported. Missing for the embedded service, and for a server that reports none. */
  readonly extensions?: readonly string[];
}

/** Old files are removed only when there are more than this many. */
const fileCountToKeep = 200;
const remedy = 'Make it a directory that you may write to, or set PARLEY_DATA_DIR to another.';
/** Far more than an id and the name of a mode. */
const maxBytes = 64 * 1024;
const unusedMs = 90 * 24 * 60 * 60 * 1000;

/** The files of one data directory. */
export class CurrentSessions {
  readonly #directory: string;
  /** The file names by holder. They are cached, because a turn reads the file of its terminal and then writes it. */
  readonly #names = new Map<string, string>();

  constructor(dataDirectory: string) {
    this.#directory = folder(dataDirectory);
  }

  /** Null if no session is stored. */
  read(holder: SessionHolder): CurrentSession | null {
    try {
      const text = readSmallFile(this.#pathOf(holder), maxBytes);
      const [sessionId = '', mode = '', extensionNames = ''] = text.split('\n');
      if (!isSessionId(sessionId)) return null;
      const extensions = extensionNames === '' ? {} : { extensions: extensionNames.split(' ') };
      return { sessionId, mode: mode === '' ? null : mode, ...extensions };
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return null;
      throw fileFailure(error, this.#directory, 'read', remedy);
    }
  }

  /** Stores the session for the terminal, and as the last session of its origin and key. */
  write(holder: SessionHolder, session: CurrentSession, now: number): void {
    const directory = this.#directory;
    const own = this.#pathOf(holder);
    const last = holder.terminal === null ? own : this.#pathOf({ ...holder, terminal: null });
    const text = textOf(session);
    try {
      // Usually the file exists, and with it the directory, so the directory is checked only for a new file.
      const before = textIn(own);
      const isNew = before === null;
      if (isNew) makePrivateDirectory(directory);
      writeText(own, before, text, now);
      if (last !== own) writeText(last, textIn(last), text, now);
      if (isNew) removeUnused(directory, now);
    } catch (error) {
      throw fileFailure(error, directory, 'written', remedy);
    }
  }

  /** The name is a hash, because a file name must not contain a key. */
  #pathOf({ origin, key, terminal }: SessionHolder): string {
    const holder = JSON.stringify([origin, key, terminal]);
    const name = this.#names.get(holder) ?? Buffer.from(sha256(Buffer.from(holder))).toString('hex');
    this.#names.set(holder, name);
    return join(this.#directory, name);
  }
}

/** The lines of a file: the id, the mode, the extensions. Empty lines at the end are omitted. */
function textOf({ sessionId, mode, extensions = [] }: CurrentSession): string {
  const modeLine = mode === null || /[\r\n]/.test(mode) ? '' : mode;
  const extensionNames = extensions.filter((name) => /^[\w-]{1,50}$/.test(name)).slice(0, 50);
  return `${sessionId}\n${modeLine}\n${extensionNames.join(' ')}`.replace(/\n*$/, '\n');
}

/** Forgets these sessions in all terminals. Files that cannot be read or removed are skipped. */
export function forgetCurrentSessions(dataDirectory: string, matches: (sessionId: string) => boolean): void {
  const directory = folder(dataDirectory);
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) {
    try {
      const [sessionId = ''] = readSmallFile(join(directory, name), maxBytes).split('\n');
      if (matches(sessionId)) rmSync(join(directory, name), { force: true });
    } catch {}
  }
}

/**
 * Does not wait for the disk, because no message depends on this file. After a power cut the file may name the session before, or be empty,
 * which counts as no session. A file that already has this text only gets a new time.
 */
function writeText(path: string, before: string | null, text: string, now: number): void {
  if (before === text) utimesSync(path, now / 1000, now / 1000);
  else replaceFile(path, text, { durable: false, mayBeEmptied: true });
}

/** Null if there is no such file. */
function textIn(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function folder(dataDirectory: string): string {
  return join(dataDirectory, 'current');
}

function removeUnused(directory: string, now: number): void {
  const names = readdirSync(directory);
  if (names.length <= fileCountToKeep) return;
  for (const name of names) {
    const path = join(directory, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - usedAt > unusedMs) rmSync(path, { force: true });
  }
}
