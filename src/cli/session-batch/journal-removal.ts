// Removes the journals of purged sessions. Their ids name nothing any more, so the journals can restore nothing.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits } from '../../service/limits.ts';
import { syncDirectory } from '../../system/directories.ts';
import { batchDirectory, lockPath } from './journal.ts';
import { readJournal } from './journal-reading.ts';

export interface ErasedSessions {
  readonly origin: string;
  /** Null for all projects. */
  readonly project_id: string | null;
  /**
   * Sessions deleted before this time (ms) are purged. A journal whose last line is older has therefore deleted no session that remains.
   */
  readonly before: number;
  /** True if any of these sessions of a project remains: it was restored, or never deleted. */
  readonly holdsAny: (projectId: string, ids: readonly string[]) => Promise<boolean>;
}

/** Resolves with the names of the batches. A journal that is unreadable or gone is skipped, because its sessions are purged already. */
export async function removeJournals(
  dataDirectory: string,
  erased: ErasedSessions,
): Promise<readonly string[]> {
  const directory = batchDirectory(dataDirectory);
  if (!existsSync(directory)) return [];
  const removed: string[] = [];
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!name.endsWith('.journal') || !(await isPurged(path, erased).catch(() => false))) continue;
    rmSync(path, { force: true });
    rmSync(lockPath(path), { force: true });
    removed.push(name.replace(/\.journal$/, ''));
  }
  if (removed.length > 0) syncDirectory(directory);
  return removed;
}

async function isPurged(path: string, erased: ErasedSessions): Promise<boolean | null> {
  const { origin, project_id, before, holdsAny } = erased;
  if (statSync(path).mtimeMs >= before) return false;
  return readJournal(path, async (seal, all) => {
    if (seal.origin !== origin || seal.project_id === null) return false;
    if (project_id !== null && seal.project_id !== project_id) return false;
    let ids: string[] = [];
    for (const id of all) {
      ids.push(id);
      if (ids.length < defaultLimits.batchIds) continue;
      if (await holdsAny(seal.project_id, ids)) return false;
      ids = [];
    }
    return !(await holdsAny(seal.project_id, ids));
  });
}
