// A directory for the files of one run of a script.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** It is removed when the script ends. `parent` contains it. */
export function temporaryDirectory(parent = tmpdir()) {
  const directory = mkdtempSync(join(parent, 'parley-script-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
