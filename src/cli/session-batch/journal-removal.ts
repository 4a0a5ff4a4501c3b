// Journals whose sessions were erased for good: they name ids that no longer mean anything, and can undo nothing.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { batchDirectory } from './journal.ts';
import { sealOf } from './journal-reading.ts';

export interface ErasedSessions {
  readonly origin: string;
  /** Null for all projects. */
  readonly project_id: string | null;
  /** Deleted before (ms): what a journal last written before then has deleted is gone. */
  readonly before: number;
}

/** Returns the names of the batches. A journal that cannot be read, or is gone by now, is passed over: the sessions are erased. */
export function removeJournals(dataDirectory: string, erased: ErasedSessions): readonly string[] {
  const directory = batchDirectory(dataDirectory);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (!name.endsWith('.journal') || !isOf(path, erased)) return [];
    rmSync(path, { force: true });
    return [name.replace(/\.journal$/, '')];
  });
}

function isOf(path: string, { origin, project_id, before }: ErasedSessions): boolean {
  try {
    if (statSync(path).mtimeMs >= before) return false;
    const seal = sealOf(path);
    return seal?.origin === origin && (project_id === null || seal.project_id === project_id);
  } catch {
    return false;
  }
}
