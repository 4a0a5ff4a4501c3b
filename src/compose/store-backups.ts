// Backs up a store, verifies a backup, and restores one. A backup contains the modes of its store. For SQLite these are the modes of this
// machine's configuration. PostgreSQL has its own.

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { copyModes } from '../config/mode-copy.ts';
import { storedMode } from '../config/mode-validation.ts';
import type { Target } from '../config/settings.ts';
import { storedModeConfig } from '../config/stored-modes.ts';
import type { BackedUpModes } from '../local/backup-lines.ts';
import { type StoreBackup, backUpStore as writeBackup } from '../local/store-backup.ts';
import {
  type BackupVerification,
  type RestoredStore,
  restoreStore as writeRows,
} from '../local/store-restoring.ts';
import type { CopiedModes } from '../service/administration.ts';
import type { BackupFacts, RestoreReport } from '../service/backup-report.ts';
import { ParleyError } from '../service/errors.ts';
import { lockFiles } from '../store/sqlite/lock-file.ts';
import { lockWaitMsWithin } from '../store/sqlite/lock-wait.ts';
import { hasStore } from '../store/sqlite/open.ts';
import {
  type EarlierStore,
  earlierStore,
  type ReplacedPlace,
  removeUnfinished,
  replaceStore,
  unfinishedName,
} from '../store/sqlite/store-replacement.ts';
import { holdFileLock } from '../system/file-lock.ts';
import type { Dependencies } from './dependencies.ts';
import { openModes } from './mode-opening.ts';
import { openRows } from './row-opening.ts';
import { sqliteDriver } from './sqlite-driver.ts';

export interface BackupRequest extends Pick<StoreBackup, 'withKeys' | 'write' | 'progress' | 'signal'> {
  readonly target: Pick<Target, 'store' | 'storeName'>;
  readonly timeout: number | null;
}

/** Throws `STORE_OLDER` for a store with an older schema, which is not changed. */
export async function backUpStore(
  { target, timeout, ...rest }: BackupRequest,
  dependencies: Dependencies,
): Promise<BackupFacts> {
  const { dataDirectory, now } = dependencies;
  if (target.store === null && !hasStore(dataDirectory)) {
    throw new ParleyError('STORE_MISSING', `There is no store in ${dataDirectory}.`, {
      hint: 'Nothing was written. Name the data directory of the store.',
    });
  }
  const modes = await modesOf(target, dependencies);
  const original = await openRows(placeOf(target, dependencies), dependencies, {
    timeout,
    refusesOlder: true,
  });
  try {
    return await writeBackup({ ...rest, original, modes, from: target.storeName, now });
  } finally {
    await original.close();
  }
}

export interface RestoringRequest extends BackupVerification {
  readonly target: Pick<Target, 'store' | 'storeName'>;
  /** True to replace a store that has sessions. Only SQLite supports that. */
  readonly replaces: boolean;
  /** The time limit of the caller in seconds. Null for the default waits. */
  readonly timeout: number | null;
}

export async function restoreStore(
  request: RestoringRequest,
  dependencies: Dependencies,
): Promise<RestoreReport> {
  const restored =
    request.target.store === null
      ? restoreFile(request, dependencies)
      : restoreDatabase(request, dependencies);
  const { facts, modes: given, keys, kept } = await restored;
  const modes = await putModes(given, request.target, dependencies);
  return { ...facts, place: request.target.storeName, kept, keys, modes };
}

/** Restores the store into a file with another name, and then renames it. */
async function restoreFile(request: RestoringRequest, dependencies: Dependencies) {
  const { dataDirectory: directory, random } = dependencies;
  const { timeout } = request;
  const driver = await sqliteDriver(dependencies);
  const place = { driver, directory, wait: { waitMs: lockWaitMsWithin(timeout), random } };
  // A process that starts in the meantime finds this store and keeps it open, which prevents its replacement.
  if (!hasStore(directory))
    await (await openRows({ address: null, directory }, dependencies, { timeout })).close();
  const lock = { path: join(directory, 'restore.lock'), locks: async () => lockFiles(driver) };
  const release = await holdFileLock(lock, 'the restoration of a backup');
  try {
    removeUnfinished(directory);
    return await replaceByUnfinished(request, dependencies, place);
  } finally {
    removeUnfinished(directory);
    release();
  }
}

async function replaceByUnfinished(
  { target, replaces, timeout, ...rest }: RestoringRequest,
  dependencies: Dependencies,
  place: ReplacedPlace,
) {
  const mayReplace = ({ holdsSessions }: EarlierStore) => {
    if (holdsSessions && !replaces) throw holdsData(target.storeName);
  };
  const { keys: earlierKeys, ...earlier } = await earlierStore(place);
  mayReplace({ keys: earlierKeys, ...earlier });
  const rows = await openRows(placeOf(target, dependencies), dependencies, {
    timeout,
    filename: unfinishedName,
  });
  let restored: RestoredStore;
  try {
    restored = await writeRows({ ...rest, rows, earlierKeys });
  } finally {
    await rows.close();
  }
  const kept = await replaceStore(place, (old) => {
    mayReplace(old);
    // A key that was created or revoked in the meantime would be lost.
    if (!isDeepStrictEqual(old.keys, earlierKeys)) throw changedMeanwhile(target.storeName);
  });
  return { ...restored, kept };
}

function changedMeanwhile(place: string): ParleyError {
  return new ParleyError('STORE_BUSY', `The keys of the store ${place} were changed in the meantime.`, {
    hint: 'Nothing was changed. Try again.',
  });
}

async function restoreDatabase(
  { target, replaces: _, timeout, ...rest }: RestoringRequest,
  dependencies: Dependencies,
) {
  const rows = await openRows(placeOf(target, dependencies), dependencies, { timeout });
  try {
    const isUsed = (await rows.projects()).length > 0 || (await rows.copyNote()) !== null;
    if (isUsed) throw cannotReplace(target.storeName);
    await rows.setCopyNote(JSON.stringify({ from: rest.place, isWhole: false }));
    const restored = await writeRows({ ...rest, rows, earlierKeys: [] });
    await rows.setCopyNote(JSON.stringify({ from: rest.place, isWhole: true }));
    return { ...restored, kept: null };
  } finally {
    await rows.close();
  }
}

function holdsData(place: string): ParleyError {
  return new ParleyError('USAGE', `The store ${place} contains data.`, {
    hint: 'Nothing was changed.',
    remedy: { kind: 'replace_store' },
  });
}

function cannotReplace(place: string): ParleyError {
  return new ParleyError(
    'USAGE',
    `The store ${place} contains data, and a store in PostgreSQL is never replaced.`,
    {
      hint: 'Nothing was changed. Restore into another schema or database, and then change the address.',
    },
  );
}

function placeOf({ store }: Pick<Target, 'store'>, { dataDirectory }: Dependencies) {
  return { address: store, directory: dataDirectory };
}

/** A mode with invalid settings is omitted, because it could contain a key as plain text. */
async function modesOf({ store }: Pick<Target, 'store'>, dependencies: Dependencies): Promise<BackedUpModes> {
  const place = await openModes(store, dependencies);
  try {
    const { modes, default: default_mode } = storedModeConfig(await place.read(), place.name);
    return { default_mode, modes: Object.fromEntries(modes.map((mode) => [mode.name, storedMode(mode)])) };
  } finally {
    await place.close();
  }
}

async function putModes(
  given: BackedUpModes,
  { store }: Pick<Target, 'store'>,
  dependencies: Dependencies,
): Promise<CopiedModes> {
  const place = await openModes(store, dependencies);
  try {
    return await copyModes({ name: 'the backup', read: async () => given }, place);
  } finally {
    await place.close();
  }
}
