// Journals whose sessions were erased for good: they name ids that no longer mean anything, and can undo nothing.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits } from '../../service/limits.ts';
import { syncDirectory } from '../../system/directories.ts';
import { batchDirectory, lockPath } from './journal.ts';
import { idsOf, sealOf } from './journal-reading.ts';

export interface ErasedSessions {
  readonly origin: string;
  /** Null for all projects. */
  readonly project_id: string | null;
  /** Deleted before (ms): what a journal last written before then has deleted is gone. */
  readonly before: number;
  /** Whether any of these sessions of a project is left: restored before, or never deleted. */
  readonly holdsAny: (projectId: string, ids: readonly string[]) => Promise<boolean>;
}

/** Resolves with the names of the batches. A journal that cannot be read, or is gone by now, is passed over: the sessions are erased. */
export async function removeJournals(
  dataDirectory: string,
  erased: ErasedSessions,
): Promise<readonly string[]> {
  const directory = batchDirectory(dataDirectory);
  if (!existsSync(directory)) return [];
  const removed: string[] = [];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!name.endsWith('.journal') || !(await isOf(path, erased))) continue;
    rmSync(path, { force: true });
    rmSync(lockPath(path), { force: true });
    removed.push(name.replace(/\.journal$/, ''));
  }
  if (removed.length > 0) syncDirectory(directory);
  return removed;
}

async function isOf(
  path: string,
  { origin, project_id, before, holdsAny }: ErasedSessions,
): Promise<boolean> {
  try {
    if (statSync(path).mtimeMs >= before) return false;
    const seal = sealOf(path);
    if (seal === null || seal.origin !== origin || seal.project_id === null) return false;
    if (project_id !== null && seal.project_id !== project_id) return false;
    let ids: string[] = [];
    for (const id of idsOf(path)) {
      ids.push(id);
      if (ids.length < defaultLimits.batchIds) continue;
      if (await holdsAny(seal.project_id, ids)) return false;
      ids = [];
    }
    return !(await holdsAny(seal.project_id, ids));
  } catch {
    return false;
  }
}
