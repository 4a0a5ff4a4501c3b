// A disk of 2 MiB that a test can fill, if this process may mount one.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mayTest } from './machine.ts';

export class SmallDisk {
  readonly path: string;
  readonly #ballast: string;

  private constructor(path: string) {
    this.path = path;
    this.#ballast = join(path, 'ballast');
  }

  /** Null where mounting is not permitted; in CI that is an error. */
  static mount(): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), 'parley-disk-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'tmpfs', path]).status === 0)
      return new SmallDisk(path);
    rmdirSync(path);
    mayTest(false, 'the permission to mount a disk');
    return null;
  }

  /** Leaves this many pages of 4 KiB free. */
  fill(pagesLeft: number): void {
    this.free();
    const file = openSync(this.#ballast, 'w');
    const { bavail, bsize } = statfsSync(this.path);
    const ballast = Buffer.alloc(Math.max(0, bavail - pagesLeft) * bsize);
    for (let written = 0; written < ballast.length; ) written += writeSync(file, ballast, written);
    closeSync(file);
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Makes the whole file system read-only, or writable again. */
  allowWrites(isAllowed: boolean): void {
    const { status, stderr } = spawnSync('mount', ['-o', `remount,${isAllowed ? 'rw' : 'ro'}`, this.path]);
    if (status !== 0) throw new Error(stderr.toString());
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.path]);
    rmdirSync(this.path);
  }
}
