// Removes texts from the input histories of all profiles.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../system/atomic-file.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { type LoadLocks, withFileLock } from '../../system/file-lock.ts';
import { decodeLine, encodeLine } from './line-history.ts';

interface HistoryLocation {
  readonly dataDirectory: string;
  readonly locks: LoadLocks;
}

/**
 * `replace` receives each line of the histories. Returns the number of lines that it changed. A line that a full disk cut short is removed,
 * because it cannot be read.
 */
export async function redactHistories(
  { dataDirectory, locks }: HistoryLocation,
  replace: (line: string) => string,
): Promise<number> {
  const directory = join(dataDirectory, 'history');
  if (!existsSync(directory)) return 0;
  let count = 0;
  for (const name of readdirSync(directory).filter((name) => name.endsWith('.jsonl'))) {
    const path = join(directory, name);
    const lock = { path: path.replace(/\.jsonl$/, '.lock'), locks };
    try {
      await withFileLock(lock, () => {
        const { text, changed } = redactText(readFileSync(path, 'utf8'), replace);
        if (changed > 0) replaceFile(path, text, { durable: true });
        count += changed;
      });
    } catch (error) {
      throw fileFailure(error, path, 'written', 'The history may still contain the text.');
    }
  }
  return count;
}

function redactText(file: string, replace: (line: string) => string) {
  let changed = 0;
  const lines = file.split('\n').flatMap((json) => {
    const line = decodeLine(json);
    const replaced = line === null ? null : replace(line);
    if (replaced !== line || (line === null && json !== '')) changed += 1;
    return replaced === null ? [] : [encodeLine(replaced)];
  });
  return { text: lines.join(''), changed };
}
