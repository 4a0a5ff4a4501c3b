// Migrates a store, and copies a store to another. Neither needs a service or an engine.

import { copyModes } from '../config/mode-copy.ts';
import type { NamedStore } from '../config/named-store.ts';
import { profileOfStore } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import { copyStore, type StoreCopy } from '../local/store-copy.ts';
import type { CopiedModes, CopyReport, StoreMigration } from '../service/administration.ts';
import { ParleyError } from '../service/errors.ts';
import { hasStore } from '../store/sqlite/open.ts';
import type { Dependencies } from './dependencies.ts';
import { openModes } from './mode-opening.ts';
import { openRows } from './row-opening.ts';
import { defaultChoice, openChosenStore } from './store-choice.ts';
import { refuseMissingStore } from './store-key.ts';

/** Migrates the store of a target to the newest schema, and creates it if it does not exist. `timeout`: see {@link CopyRequest}. */
export async function migrateStore(
  target: Pick<Target, 'store' | 'storeName'>,
  timeout: number | null,
  dependencies: Dependencies,
): Promise<StoreMigration> {
  const { dataDirectory, profileFile } = dependencies;
  const profile = profileOfStore(profileFile.read(), target.storeName);
  if (target.store === null) refuseMissingStore(profile, hasStore(dataDirectory), dataDirectory);
  const { store, migration } = await openChosenStore(target, dependencies, { ...defaultChoice, timeout });
  await store.close();
  return migration;
}

export interface CopyRequest extends Pick<StoreCopy, 'resume' | 'progress' | 'signal'> {
  readonly from: NamedStore;
  readonly to: NamedStore;
  /** The time limit of the caller in seconds. Null for the default waits. */
  readonly timeout: number | null;
}

/** Copies a store. The original is not changed. An original with an older schema is refused with `STORE_OLDER`. */
export async function copyStores(request: CopyRequest, dependencies: Dependencies): Promise<CopyReport> {
  const { from, to, timeout, ...rest } = request;
  if (from.name === to.name)
    throw new ParleyError('USAGE', `${from.name} is both the original and the copy.`);
  if (from.address === null && !hasStore(from.directory)) {
    throw new ParleyError('STORE_MISSING', `There is no store in ${from.directory}.`, {
      hint: 'Name the directory that contains parley.db.',
    });
  }
  const original = await openRows(from, dependencies, { timeout, refusesOlder: true });
  try {
    const copy = await openRows(to, dependencies, { timeout });
    try {
      return await copyStore({
        ...rest,
        original,
        copy,
        from: from.name,
        to: to.name,
        copyModes: () => copyModesOf(from, to, dependencies),
      });
    } finally {
      await copy.close();
    }
  } finally {
    await original.close();
  }
}

/** All stores in SQLite use the modes of this machine's configuration. */
async function copyModesOf(
  from: NamedStore,
  to: NamedStore,
  dependencies: Dependencies,
): Promise<CopiedModes> {
  if (from.address === null && to.address === null) return { copied: 0, kept: [], faulty: [] };
  const original = await openModes(from.address, dependencies);
  try {
    const copy = await openModes(to.address, dependencies);
    try {
      return await copyModes(original, copy);
    } finally {
      await copy.close();
    }
  } finally {
    await original.close();
  }
}
