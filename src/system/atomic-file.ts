// Writes files that appear under their name whole or not at all. A file is written under another name in the same directory, synced, and
// then renamed. No other user can read it before `mode` allows that.
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

export interface Durability {
  /**
   * True: the file and its name survive a power cut after the call. False: only the data is synced, so that a power cut does not leave an
   * empty file.
   */
  readonly durable: boolean;
  /**
   * True: nothing is synced, so a power cut may leave the file empty or cut short. For a file whose reader treats that as a missing file.
   */
  readonly mayBeEmptied?: boolean;
}

export interface AtomicFileOptions extends Durability {
  /** False: a file that has the name by then stays, and `keep` throws `EEXIST`. */
  readonly replaces: boolean;
  /** The permission bits, whatever the umask is. Without it they are 0600, less what the umask removes. */
  readonly mode?: number;
}

export class AtomicFile {
  /** The open file that will get the name, to write to and to ask about. */
  readonly descriptor: number;
  readonly #path: string;
  readonly #part: string;
  readonly #options: AtomicFileOptions;
  #isOpen = true;

  /** Throws the error of the system call, as all methods do. */
  constructor(path: string, options: AtomicFileOptions) {
    this.#path = path;
    this.#part = join(dirname(path), partName(basename(path)));
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
    if (this.#options.replaces || !this.#linked()) renameSync(this.#part, this.#path);
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

  /** Ignores errors: a kept file has its name already, and after a failure the first error matters more than a leftover part. */
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

  /** A link does not replace a file that got the name meanwhile, as renaming would. False if the file system has no links. */
  #linked(): boolean {
    try {
      linkSync(this.#part, this.#path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
      return false;
    }
  }
}

/** A name of the longest allowed length leaves no room for an addition, so a long name is replaced. */
function partName(name: string): string {
  const random = Math.random().toString(36).slice(2);
  return Buffer.byteLength(name) > 200 ? `.parley.${random}.part` : `.${name}.${random}.part`;
}

/** Replaces the content of a file. A reader sees the old content or the new one, whole. On failure the old content stays. */
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

/** Renames a whole file that another program has written, within its directory. */
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
