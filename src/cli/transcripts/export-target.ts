// Where an export goes: standard output, one file, or a file for each session in a directory. A file appears whole or not at all,
// for its owner alone, and replaces none unless that was asked for.
import { createHash } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDiskFull } from '../../config/private-file.ts';
import { quoteForShell } from '../../config/shell-quote.ts';
import { ParleyError } from '../../service/errors.ts';

export interface FileOptions {
  readonly force: boolean;
  /** 0 to 1. */
  readonly random: () => number;
}

/** True for a directory that is there, or a name that can only be one. */
export function namesDirectory(path: string): boolean {
  return path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory());
}

/** A file's name for a session of any server: its id may hold what no file name may. */
export function fileNameOf(sessionId: string, extension: string): string {
  const name = encodeURIComponent(sessionId).replaceAll('*', '%2A').replace(/^\./, '%2E');
  if (name.length <= 150) return `${name}.${extension}`;
  const rest = createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
  return `${name.slice(0, 120)}-${rest}.${extension}`;
}

export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Written beside its place under another name, and moved there when it is whole. */
export class NewFile {
  readonly path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #force: boolean;

  static async create(path: string, { force, random }: FileOptions): Promise<NewFile> {
    if (!force && existsSync(path)) throw isThere(path);
    try {
      const place = placeOf(path);
      const part = join(dirname(place), `.${basename(place)}.${random().toString(36).slice(2)}.part`);
      return new NewFile(place, part, await open(part, 'wx', 0o600), force);
    } catch (error) {
      throw error instanceof ParleyError ? error : unwritable(path, error);
    }
  }

  private constructor(path: string, part: string, file: FileHandle, force: boolean) {
    this.path = path;
    this.#part = part;
    this.#file = file;
    this.#force = force;
  }

  async write(text: string): Promise<void> {
    try {
      await this.#file.writeFile(text);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  async keep(): Promise<void> {
    try {
      await this.#file.sync();
      await this.#file.close();
      if (!this.#force && (await this.#linked())) await this.#removePart();
      else await rename(this.#part, this.path);
    } catch (error) {
      throw error instanceof ParleyError ? error : unwritable(this.path, error);
    }
  }

  /** The file has its name by then. */
  async #removePart(): Promise<void> {
    try {
      await rm(this.#part);
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      const what = `The file ${this.path} is written, whole; its other name ${this.#part} cannot be removed (${code}).`;
      throw new ParleyError('CONFIG', what, { hint: `Remove it: rm ${quoteForShell(this.#part)}`, cause });
    }
  }

  /** A link takes no name that was given to another file meanwhile, as a move does. False where the disk knows none. */
  async #linked(): Promise<boolean> {
    try {
      await link(this.#part, this.path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(this.path);
      return false;
    }
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    // Why it is given up matters more than a part that cannot be removed.
    await rm(this.#part, { force: true }).catch(() => {});
  }
}

/** The file itself where the path is a link to it. A device or a pipe, as `/dev/null`, would be gone once a file took its place. */
function placeOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return path;
  if (there.isFile()) return realpathSync(path);
  throw new ParleyError('USAGE', `${path} is not a file that could be replaced.`, {
    hint: 'Nothing was written. Name a file, or leave out --output and send standard output there.',
  });
}

function isThere(path: string): ParleyError {
  return new ParleyError('USAGE', `The file ${path} is there already.`, {
    hint: 'Nothing was written. Name another, or let it be replaced with --force.',
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'it would be longer than a file may be',
  EIO: 'the disk failed (EIO)',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
};

function unwritable(path: string, cause: unknown): ParleyError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const what = `The file ${path} cannot be written: ${reasons[code] ?? message}.`;
  return new ParleyError(isDiskFull(cause) ? 'STORAGE_FULL' : 'USAGE', what, {
    hint: 'Nothing of it is left half-done. Name a place that you may write with --output.',
    cause,
  });
}
