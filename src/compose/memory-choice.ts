// Opens the store for a conversation whose text is not kept: its sessions are in the memory of this process.
import { storeRules } from '../local/local-store-rules.ts';
import { ephemeralStore } from '../store/ephemeral-store.ts';
import type { SessionStore } from '../store/session-store.ts';
import { openMemoryStore } from '../store/sqlite/memory-store.ts';
import type { Dependencies } from './dependencies.ts';
import { sqliteDriver } from './sqlite-driver.ts';

export async function withoutText(store: SessionStore, dependencies: Dependencies): Promise<SessionStore> {
  const { now, sinceBoot, random } = dependencies;
  const driver = await sqliteDriver(dependencies);
  const memory = await openMemoryStore({ driver, now, sinceBoot, random, rules: storeRules });
  return ephemeralStore(store, memory);
}
