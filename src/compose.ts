// Composes the rooms: opens the backend of a target, in this process or on a server, its modes and its store. Only the code that is used is
// loaded.
import { authorityReader } from './compose/authority-reader.ts';
import type { Dependencies } from './compose/dependencies.ts';
import type { DriverFacts } from './compose/sqlite-driver.ts';
import type { BackupRequest, RestoringRequest } from './compose/store-backups.ts';
import type { CopyRequest } from './compose/store-upkeep.ts';
import type { Target } from './config/settings.ts';
import type { BackupVerification } from './local/store-restoring.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from './service/backend-opening.ts';
import type { ModeSettings } from './service/mode-settings.ts';
import type { ModelServer } from './service/model-server.ts';
import type { LoadLocks } from './system/file-lock.ts';
import type { OpenDatabase } from './system/open-database.ts';

/** What the command line needs from the other rooms, for one process. */
export function composition(facts: Omit<Dependencies, 'readAuthorities'>) {
  const dependencies = { ...facts, readAuthorities: authorityReader(facts) };
  const loadEngines = () => import('./compose/configured-engines.ts');
  const loadModes = () => import('./compose/mode-opening.ts');
  const loadUpkeep = () => import('./compose/store-upkeep.ts');
  return {
    openBackend: (target: Target, options: BackendOptions) => openBackend(target, dependencies, options),
    openServedBackend: (target: Pick<Target, 'store' | 'storeName'>, options: ServeOptions) =>
      openServedBackend(target, dependencies, options),
    openModes: async ({ store }: Pick<Target, 'store'>) => (await loadModes()).openModes(store, dependencies),
    migrateStore: async (target: Pick<Target, 'store' | 'storeName'>, timeout: number | null) =>
      (await loadUpkeep()).migrateStore(target, timeout, dependencies),
    copyStores: async (request: CopyRequest) => (await loadUpkeep()).copyStores(request, dependencies),
    backups: storeBackups(dependencies),
    openDatabase: databaseOpener(dependencies),
    findModels: async (servers: readonly ModelServer[], options: EngineOptions, signal: AbortSignal) =>
      (await loadEngines()).findModelsOf(dependencies, options, servers, signal),
    findContext: async (mode: ModeSettings, options: EngineOptions, signal: AbortSignal) =>
      (await loadEngines()).findContextOf(dependencies, options, mode, signal),
  };
}

/** Opens the backend of a target and finds the key for it. */
async function openBackend(
  target: Target,
  dependencies: Dependencies,
  options: BackendOptions,
): Promise<OpenedBackend> {
  await warnOfExposure(dependencies, options);
  if (target.url === null) {
    const { openEmbeddedBackend } = await import('./compose/embedded-backend.ts');
    return openEmbeddedBackend(target, dependencies, options);
  }
  const { openRemoteBackend } = await import('./remote/remote-backend.ts');
  const { env, now, random, readAuthorities } = dependencies;
  const backend = await openRemoteBackend({
    url: target.url,
    replyPointer: target.replyPointer,
    extensions: target.extensions,
    env,
    authorityFile: options.authorityFile,
    readAuthorities,
    timeout: options.timeout,
    trace: options.trace,
    now,
    random,
    newIdempotencyKey: () =>
      [now(), random(), random()].map((part) => part.toString(36).slice(-10)).join('-'),
    wait: async (ms, signal) => {
      const { setTimeout: delay } = await import('node:timers/promises');
      await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  });
  return { backend, apiKey: target.key ?? '' };
}

async function warnOfExposure(
  { profileFile, dataDirectory }: Dependencies,
  { say }: Pick<BackendOptions, 'say'>,
): Promise<void> {
  const exposed = profileFile.exposed(dataDirectory);
  if (exposed.length === 0) return;
  const { exposure } = await import('./config/exposed-files.ts');
  const { message, remedy } = exposure(exposed);
  await say(`Warning: ${message} ${remedy}`);
}

/** Opens the embedded service for a server. The server's clients bring their keys, so no key is created. */
async function openServedBackend(
  target: Pick<Target, 'store' | 'storeName'>,
  dependencies: Dependencies,
  options: ServeOptions,
): Promise<ServedBackend> {
  await warnOfExposure(dependencies, options);
  const { openServedBackend: open } = await import('./compose/embedded-backend.ts');
  return open(target, dependencies, options);
}

/** Backs up stores, verifies backups, and restores them. */
function storeBackups(dependencies: Dependencies) {
  const load = () => import('./compose/store-backups.ts');
  return {
    backUp: async (request: BackupRequest) => (await load()).backUpStore(request, dependencies),
    verify: async (request: BackupVerification) =>
      (await import('./local/store-restoring.ts')).verifyBackup(request),
    restore: async (request: RestoringRequest) => (await load()).restoreStore(request, dependencies),
  };
}

/** Opens SQLite databases of other programs. */
function databaseOpener(facts: DriverFacts): OpenDatabase {
  return async (path) => {
    const { sqliteDriver } = await import('./compose/sqlite-driver.ts');
    return (await sqliteDriver(facts)).open(path);
  };
}

/** Locks between the processes of this machine. */
export function fileLocks(facts: DriverFacts): LoadLocks {
  return async () => {
    const { lockFiles } = await import('./store/sqlite/lock-file.ts');
    const { sqliteDriver } = await import('./compose/sqlite-driver.ts');
    return lockFiles(await sqliteDriver(facts));
  };
}
