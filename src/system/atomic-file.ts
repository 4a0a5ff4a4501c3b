// Files that appear under their name whole or not at all: written under another name beside it, synced, then moved there. Private
// from the moment they are made.
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
  /** True: the file, under its name, outlives a power cut from now on. False: only its data is synced, so that no cut empties it. */
  readonly durable: boolean;
  /** True: nothing is synced, so a power cut may leave the file empty or cut short. For a file that is then read as one that is not there. */
  readonly mayBeEmptied?: boolean;
}

export interface AtomicFileOptions extends Durability {
  /** False: a file that has the name by then stays, and `keep` throws `EEXIST`. */
  readonly replaces: boolean;
  /** Whatever the umask is; 0600, less what the umask takes, where it is not given. */
  readonly mode?: number;
}

export class AtomicFile {
  /** To write to, and to ask about: it is the file that will have the name. */
  readonly descriptor: number;
  readonly #path: string;
  readonly #part: string;
  readonly #options: AtomicFileOptions;
  #isOpen = true;

  /** Throws what the system says, as all of its methods do. */
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

  /** Gives the file its name. */
  keep(): void {
    if (this.#options.mayBeEmptied !== true) fsyncSync(this.descriptor);
    this.#close();
    if (this.#options.replaces || !this.#linked()) renameSync(this.#part, this.#path);
    else this.#removePart();
    if (this.#options.durable) syncDirectory(dirname(this.#path));
  }

  /** Leaves nothing of a file that was not kept. */
  discard(): void {
    try {
      this.#close();
    } finally {
      this.#removePart();
    }
  }

  /** What is kept has its name by then, and why a file is given up matters more than a part that stays. */
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

  /** A link takes no name that was given to another file meanwhile, as a move does. False where the file system knows no links. */
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

/** The longest name that a file system takes leaves no room for more. */
function partName(name: string): string {
  const random = Math.random().toString(36).slice(2);
  return Buffer.byteLength(name) > 200 ? `.parley.${random}.part` : `.${name}.${random}.part`;
}

/** Whoever reads the file sees the old content or the new, whole. When it fails, the old content stands. */
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

/** Moves a whole file, which somebody else has written, to a name in the same directory. */
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
