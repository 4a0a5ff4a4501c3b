// Removes the journals of purged sessions, which cannot be restored any more.
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { defaultLimits } from '../../service/limits.ts';
import { syncDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';
import { ImportJournal, knownImports } from './import-journal.ts';
import { type BatchOwner, batchDirectory, lockPath } from './journal.ts';
import { filesWith } from './journal-files.ts';
import { readJournal } from './journal-reading.ts';

const extension = '.journal';

export interface ErasedSessions {
  readonly origin: string;
  /** Null for all projects. */
  readonly project_id: string | null;
  /**
   * Sessions deleted before this time (ms) are purged. A journal whose last line is older therefore has no session that remains.
   */
  readonly before: number;
  /** True if any of these sessions of a project remains, because it was restored or never deleted. */
  readonly holdsAny: (projectId: string, ids: readonly string[]) => Promise<boolean>;
  readonly locks: LoadLocks;
  /** Called for a journal, or the directory of all, that cannot be removed or read. The sessions are erased already, so the rest goes on. */
  readonly onFailure: (path: string, error: unknown) => void;
}

/** Resolves to the names of the batches. Unreadable or missing journals are skipped: their sessions are purged already. */
export async function removeJournals(
  dataDirectory: string,
  erased: ErasedSessions,
): Promise<readonly string[]> {
  const directory = batchDirectory(dataDirectory);
  const removed: string[] = [];
  try {
    for (const { path, changed } of filesWith(directory, extension)) {
      if (changed >= erased.before || !(await isPurged(path, erased).catch(() => false))) continue;
      if (isRemoved(path, () => removeBoth(path), erased)) removed.push(basename(path, extension));
    }
    removed.push(...(await removeImports(dataDirectory, erased)));
    if (removed.length > 0) syncDirectory(directory);
  } catch (error) {
    erased.onFailure(directory, error);
  }
  return removed;
}

function removeBoth(path: string): void {
  rmSync(path, { force: true });
  rmSync(lockPath(path), { force: true });
}

function isRemoved(path: string, remove: () => void, { onFailure }: ErasedSessions): boolean {
  try {
    remove();
    return true;
  } catch (error) {
    onFailure(path, error);
    return false;
  }
}

/** The journal of an import contains file names and filters, so it is removed, too, unless it is in use or has created nothing yet. */
async function removeImports(dataDirectory: string, erased: ErasedSessions): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { seal, created } of knownImports(dataDirectory)) {
    const { batch } = seal;
    if (created.size === 0 || !(await isErased(seal, created.keys(), erased).catch(() => false))) continue;
    const journal = await ImportJournal.open(dataDirectory, batch, erased).catch(() => null);
    if (journal === null) continue;
    if (isRemoved(journal.path, () => journal.remove(), erased)) removed.push(batch);
  }
  return removed;
}

async function isPurged(path: string, erased: ErasedSessions): Promise<boolean | null> {
  return readJournal(path, (seal, all) => isErased(seal, all, erased));
}

async function isErased(
  owner: BatchOwner,
  all: Iterable<string>,
  { origin, project_id, holdsAny }: ErasedSessions,
): Promise<boolean> {
  if (owner.origin !== origin || owner.project_id === null) return false;
  if (project_id !== null && owner.project_id !== project_id) return false;
  let ids: string[] = [];
  for (const id of all) {
    ids.push(id);
    if (ids.length < defaultLimits.batchIds) continue;
    if (await holdsAny(owner.project_id, ids)) return false;
    ids = [];
  }
  return !(await holdsAny(owner.project_id, ids));
}
