// Writes files atomically: a file appears under its name completely or not at all. It is written under another name in the same directory,
// synced, and then renamed. No other user can read it before `mode` allows that.
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncDirectory } from './directories.ts';
import { systemErrorCode } from './file-errors.ts';

export interface Durability {
  /** True: the file and its name survive a power cut after the call. False: only the data is synced, so a power cut leaves no empty file. */
  readonly durable: boolean;
  /** True: nothing is synced, so a power cut may leave the file empty or truncated. Its reader must treat that as a missing file. */
  readonly mayBeEmptied?: boolean;
}

export interface AtomicFileOptions extends Durability {
  /** False: an existing file is not replaced, and `keep` throws `EEXIST`. */
  readonly replaces: boolean;
  /** The permission bits, regardless of the umask. By default 0600, reduced by the umask. */
  readonly mode?: number;
  /** An addition to the name of the part, which names its process (part-owner.ts). */
  readonly owner?: string;
}

export class AtomicFile {
  /** The descriptor of the open file. */
  readonly descriptor: number;
  readonly #path: string;
  readonly #part: string;
  readonly #options: AtomicFileOptions;
  #isOpen = true;

  /** Throws the error of the system call, as all methods do. */
  constructor(path: string, options: AtomicFileOptions) {
    this.#path = path;
    this.#part = join(dirname(path), partName(basename(path), options.owner));
    this.#options = options;
    this.descriptor = openSync(this.#part, 'wx', 0o600);
    try {
      if (options.mode !== undefined) fchmodSync(this.descriptor, options.mode);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  write(data: string | Uint8Array): void {
    writeFileSync(this.descriptor, data);
  }

  /** Syncs the file and gives it its name. */
  keep(): void {
    if (this.#options.mayBeEmptied !== true) fsyncSync(this.descriptor);
    this.#close();
    if (this.#options.replaces || !this.#link()) renameSync(this.#part, this.#path);
    else this.#removePart();
    if (this.#options.durable) syncDirectory(dirname(this.#path));
  }

  /** Removes a file that was not kept. */
  discard(): void {
    try {
      this.#close();
    } finally {
      this.#removePart();
    }
  }

  /** Ignores errors: a kept file already has its name, and after a failure the first error matters more than a leftover part. */
  #removePart(): void {
    try {
      rmSync(this.#part, { force: true });
    } catch {
      return;
    }
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.descriptor);
  }

  /** Unlike a rename, a link does not replace a file that was created in the meantime. False if the file system has no links. */
  #link(): boolean {
    try {
      linkSync(this.#part, this.#path);
      return true;
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') throw error;
      return false;
    }
  }
}

/** A long name is replaced, because a name with an addition could exceed the allowed length. */
function partName(name: string, owner = ''): string {
  const end = [owner, Math.random().toString(36).slice(2), 'part'].filter((word) => word !== '').join('.');
  return Buffer.byteLength(name) + end.length > 230 ? `.parley.${end}` : `.${name}.${end}`;
}

/** Replaces the content of a file. A reader sees either the complete old content or the complete new content. A failure keeps the old content. */
export function replaceFile(path: string, data: string | Uint8Array, durability: Durability): void {
  const file = new AtomicFile(path, { ...durability, replaces: true });
  try {
    file.write(data);
    file.keep();
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Renames a complete file that another program has written, within its directory. */
export function moveIntoPlace(part: string, path: string, { durable }: Durability): void {
  const file = openSync(part, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
  if (durable) syncDirectory(dirname(path));
}
