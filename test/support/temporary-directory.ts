// A directory of a single test, or with `afterAll` of a file of tests, without symbolic links in its path.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function temporaryDirectory(atEnd: (remove: () => void) => unknown = onTestFinished): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-test-')));
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
