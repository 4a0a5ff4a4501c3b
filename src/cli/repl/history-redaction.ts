// Takes texts out of the histories of what was typed, of all profiles.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../system/atomic-file.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { type LoadLocks, withFileLock } from '../../system/file-lock.ts';

export interface HistoryPlace {
  readonly dataDirectory: string;
  readonly locks: LoadLocks;
}

/**
 * `replace` gets each typed line. Returns the number of lines that it changed. A part of a line that a full disk cut short is removed, because
 * it cannot be read.
 */
export async function redactHistories(
  { dataDirectory, locks }: HistoryPlace,
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
        const { text, changed } = redacted(readFileSync(path, 'utf8'), replace);
        if (changed > 0) replaceFile(path, text, { durable: true });
        count += changed;
      });
    } catch (error) {
      throw fileFailure(error, path, 'written', 'The history may still contain the text.');
    }
  }
  return count;
}

function redacted(file: string, replace: (line: string) => string) {
  let changed = 0;
  const lines = file.split('\n').flatMap((json) => {
    const line = lineOf(json);
    const without = line === null ? null : replace(line);
    if (without !== line || (line === null && json !== '')) changed += 1;
    return without === null ? [] : [`\n${JSON.stringify(without)}`];
  });
  return { text: lines.join(''), changed };
}

/** Null for what is no line. */
function lineOf(json: string): string | null {
  try {
    const line: unknown = JSON.parse(json);
    return typeof line === 'string' ? line : null;
  } catch {
    return null;
  }
}
