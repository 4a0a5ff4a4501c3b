// Opens the store in SQLite, in the data directory of this machine.
import { storeRules } from '../local/local-store-rules.ts';
import { type Say, withSlowStoreNotice } from '../local/slow-store-notice.ts';
import { lockWaitMsWithin } from '../store/sqlite/lock-wait.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { ProcessesOf } from '../store/sqlite/store-processes.ts';
import type { ChosenStore } from './chosen-store.ts';
import type { Dependencies } from './dependencies.ts';
import { sqliteDriver } from './sqlite-driver.ts';
import { turnOwners } from './turn-owners.ts';

export interface SqliteChoice {
  /** The time limit of the caller in seconds. It also limits the wait for a lock. Null for the default wait. */
  readonly timeout: number | null;
  /** The read processes of a server, so that no caller waits for the long read of another. */
  readonly storeProcesses: ProcessesOf | undefined;
  /** True to refuse a store with an older schema. */
  readonly refusesOlder: boolean;
  /** Tells the user why opening takes long; null for nobody. */
  readonly say: Say | null;
}

export async function openSqlite(dependencies: Dependencies, choice: SqliteChoice): Promise<ChosenStore> {
  const { dataDirectory, now, sinceBoot, random, processes, endsProcess, signal } = dependencies;
  const { timeout, storeProcesses, refusesOlder, say } = choice;
  const { owner, stateOf } = turnOwners(processes);
  let isAnnounced = false;
  const opening = openSqliteStore({
    directory: dataDirectory,
    driver: await sqliteDriver(dependencies),
    now,
    sinceBoot,
    random,
    processes: storeProcesses,
    // A server may run for months, and its operator copies the files once it has stopped.
    endsWithProcess: endsProcess && storeProcesses === undefined,
    refusesOlder,
    announce: async ({ from, to }) => {
      isAnnounced = true;
      await say?.(
        `Migrating the store ${dataDirectory} from schema ${from} to ${to}. A copy of the old one is kept beside it.`,
      );
    },
    stopSignal: timeout === null ? signal : undefined,
    rules: storeRules,
    stateOf,
    lockWaitMs: lockWaitMsWithin(timeout),
  });
  const notice = `Waiting for the store ${dataDirectory}, which another program holds.`;
  // A migration takes long without a lock of another program, too.
  const opened = await withSlowStoreNotice(opening, notice, async (line) => {
    if (!isAnnounced) await say?.(line);
  });
  return { ...opened, owner, servers: null, modes: null };
}
