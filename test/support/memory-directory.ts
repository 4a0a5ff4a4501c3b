// Runs in Vitest's own process, before the test files: puts their temporary directories into memory if Linux has the space, so that commits do not
// wait for a disk. A given TMPDIR is not changed.
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const memory = '/dev/shm';
const minBytes = 4 * 1024 ** 3;

export function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return;
  const directory = mkdtempSync(`${memory}/parley-tests-`);
  // PostgreSQL runs as another user than root.
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
  return () => {
    delete process.env['TMPDIR'];
    rmSync(directory, { recursive: true, force: true });
  };
}

/** A container may have 64 MiB there. */
function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= minBytes;
}
