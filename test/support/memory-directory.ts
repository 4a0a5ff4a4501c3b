// Runs in Vitest's own process, before the test files: their temporary directories lie in memory where Linux has the room. A commit then
// waits for no disk. A TMPDIR that is set stays.
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const memory = '/dev/shm';
const leastBytes = 4 * 1024 ** 3;

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
  return bavail * bsize >= leastBytes;
}
