// Composes the rooms: opens the backend of a target, in this process or on a server, its modes and its store. Only the code that is used is
// loaded.
import type { Dependencies } from './compose/dependencies.ts';
import type { DriverFacts } from './compose/sqlite-driver.ts';
import type { BackupRequest, RestoringRequest, VerificationRequest } from './compose/store-backups.ts';
import type { CopyRequest } from './compose/store-upkeep.ts';
import type { ModePlace } from './config/mode-place.ts';
import type { Target } from './config/settings.ts';
import type { CopyReport, StoreMigration } from './service/administration.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from './service/backend-opening.ts';
import type { ModeSettings } from './service/mode-settings.ts';
import type { ContextSize, FoundModels, ModelServer } from './service/model-server.ts';
import type { LoadLocks } from './system/file-lock.ts';
import type { OpenDatabase } from './system/open-database.ts';

/** What the command line needs from the other rooms, for one process. */
export function composition(dependencies: Dependencies) {
  return {
    openBackend: (target: Target, options: BackendOptions) => openBackend(target, dependencies, options),
    openServedBackend: (target: Pick<Target, 'store' | 'storeName'>, options: ServeOptions) =>
      openServedBackend(target, dependencies, options),
    openModes: (target: Pick<Target, 'store'>) => openModes(target, dependencies),
    migrateStore: (target: Pick<Target, 'store' | 'storeName'>) => migrateStore(target, dependencies),
    copyStores: (request: CopyRequest) => copyStores(request, dependencies),
    backups: storeBackups(dependencies),
    openDatabase: databaseOpener(dependencies),
    findModels: (servers: readonly ModelServer[], options: EngineOptions, signal: AbortSignal) =>
      findModels(servers, dependencies, options, signal),
    findContext: (mode: ModeSettings, options: EngineOptions, signal: AbortSignal) =>
      findContext(mode, dependencies, options, signal),
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
  const { env, now, random, signal } = dependencies;
  const backend = await openRemoteBackend({
    url: target.url,
    replyPointer: target.replyPointer,
    extensions: target.extensions,
    env,
    authorityFile: options.authorityFile,
    timeout: options.timeout,
    trace: options.trace,
    signal,
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

/** Asks model servers for their models. */
async function findModels(
  servers: readonly ModelServer[],
  dependencies: Dependencies,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<readonly FoundModels[]> {
  const { findModelsOf } = await import('./compose/configured-engines.ts');
  return findModelsOf(dependencies, options, servers, signal);
}

/** Asks the server of a mode how many tokens of a conversation its model reads. */
async function findContext(
  mode: ModeSettings,
  dependencies: Dependencies,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<ContextSize | null> {
  const { findContextOf } = await import('./compose/configured-engines.ts');
  return findContextOf(dependencies, options, mode, signal);
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

/** Migrates the store of a target to the newest schema. */
async function migrateStore(
  target: Pick<Target, 'store' | 'storeName'>,
  dependencies: Dependencies,
): Promise<StoreMigration> {
  const { migrateStore: migrate } = await import('./compose/store-upkeep.ts');
  return migrate(target, dependencies);
}

/** Opens the modes of the embedded service of a target, to change them. */
async function openModes({ store }: Pick<Target, 'store'>, dependencies: Dependencies): Promise<ModePlace> {
  const { openModes: open } = await import('./compose/mode-opening.ts');
  return open(store, dependencies);
}

/** Copies a store to another. */
async function copyStores(request: CopyRequest, dependencies: Dependencies): Promise<CopyReport> {
  const { copyStores: copy } = await import('./compose/store-upkeep.ts');
  return copy(request, dependencies);
}

/** Backs up stores, verifies backups, and restores them. */
function storeBackups(dependencies: Dependencies) {
  const load = () => import('./compose/store-backups.ts');
  return {
    backUp: async (request: BackupRequest) => (await load()).backUpStore(request, dependencies),
    verify: async (request: VerificationRequest) => (await load()).verifyBackup(request),
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
