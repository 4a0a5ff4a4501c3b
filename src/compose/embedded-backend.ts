// Puts the embedded service together: the store, the engines and the identity of this process. Loaded only for a backend on this machine.
import { profileOfStore } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import type { EngineSet } from '../engine/engine-set.ts';
import { IdSource } from '../local/ids.ts';
import type { Say } from '../local/late-keeping.ts';
import { LocalAdministration } from '../local/local-administration.ts';
import { LocalArchive } from '../local/local-archive.ts';
import type { LocalOptions, TurnOwner } from '../local/local-options.ts';
import { LocalService } from '../local/local-service.ts';
import { storeRules } from '../local/local-store-rules.ts';
import type { EmbeddedBackend } from '../service/backend.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from '../service/backend-opening.ts';
import { ParleyError } from '../service/errors.ts';
import { defaultLimits, type Limits } from '../service/limits.ts';
import { usualLockWaitMs } from '../store/sqlite/lock-wait.ts';
import { hasStore, openSqliteStore } from '../store/sqlite/open.ts';
import type { ProcessesOf } from '../store/sqlite/store-processes.ts';
import { isOfEarlierBoot, type ProcessTable, processIdentity } from '../system/process-identity.ts';
import { configuredEngines, exchangeableEngines, storedModes } from './configured-engines.ts';
import type { Dependencies } from './dependencies.ts';
import { followedModes } from './followed-modes.ts';
import { keyOf, refuseMissingStore } from './store-key.ts';
import { systemRandomness } from './system-randomness.ts';

/** Opens the store of this machine, and resolves the key to call it with. */
export async function openEmbeddedBackend(
  target: Target,
  dependencies: Dependencies,
  options: BackendOptions,
): Promise<OpenedBackend> {
  if (options.onlyExisting && (target.key === null || !hasStore(dependencies.dataDirectory))) throw noStore();
  const { dataDirectory, profileFile } = dependencies;
  // Read anew, because the target may come from an older configuration. Read before the store is looked for, because a process that
  // creates the first store at the same time stores its key last.
  const config = profileFile.read();
  const knownTo = options.beginsStore ? null : profileOfStore(config, dataDirectory);
  refuseMissingStore(knownTo, hasStore(dataDirectory), dataDirectory);
  const follow = options.followsModes ? followedModes(profileFile, config) : null;
  const { isNew, reloadModes, store, ...opened } = await openLocal(
    dependencies,
    options,
    lockWaitWith(options.timeout),
    await configuredEngines(dependencies, options, await storedModes(config, profileFile.path)),
    async () =>
      configuredEngines(dependencies, options, await storedModes(profileFile.read(), profileFile.path)),
    { say: options.say },
  );
  const service = follow?.(opened.backend.service, reloadModes) ?? opened.backend.service;
  const backend = { ...opened.backend, service };
  try {
    if (options.onlyExisting && isNew) throw noStore();
    refuseMissingStore(knownTo, !isNew, dataDirectory);
    return { backend, apiKey: await keyOf(target, { backend, store, isNew, config }, dependencies, options) };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

function noStore(): ParleyError {
  return new ParleyError('CONFIG', 'There is no store on this machine yet.', {
    remedy: { kind: 'make_store' },
  });
}

/** Opens the store of this machine for a server. */
export async function openServedBackend(
  dependencies: Dependencies,
  options: ServeOptions,
): Promise<ServedBackend> {
  const { StoreProcesses } = await import('../store/sqlite/store-processes.ts');
  const choice = { ...options, trace: null };
  const { modesFile } = options;
  const { dataDirectory, profileFile } = dependencies;
  const knownTo = profileOfStore(profileFile.read(), dataDirectory);
  refuseMissingStore(knownTo, hasStore(dataDirectory), dataDirectory);
  const modes = () =>
    modesFile === null ? storedModes(profileFile.read(), profileFile.path) : readModes(modesFile);
  const engines = async () => configuredEngines(dependencies, choice, await modes());
  const { backend, store, shareReads, limits, defaultMode, reloadModes } = await openLocal(
    dependencies,
    choice,
    // The time-out of a server is that of its models; its clients have another.
    usualLockWaitMs,
    await engines(),
    engines,
    // In the build, the worker's file is in the directory of this code.
    {
      say: null,
      processes: (place) => new StoreProcesses(new URL('./store-worker.cjs', import.meta.url), place),
    },
  );
  return {
    backend,
    limits,
    defaultMode,
    ready: () => store.ping(),
    requestArrived: shareReads,
    reloadModes,
  };
}

async function readModes(path: string) {
  const { readModesFile } = await import('../config/modes-file.ts');
  return readModesFile(path);
}

async function openLocal(
  dependencies: Dependencies,
  options: EngineOptions,
  lockWaitMs: number,
  firstEngines: EngineSet,
  readEngines: () => Promise<EngineSet>,
  { say, processes }: { readonly say: Say | null; readonly processes?: ProcessesOf },
) {
  const { dataDirectory, nodeApiVersion, now, sinceBoot } = dependencies;
  const { engines, exchange } = exchangeableEngines(firstEngines);
  const reloadModes = async () => exchange(await readEngines());
  const { store, created, shareReads } = await openSqliteStore({
    directory: dataDirectory,
    nodeApiVersion,
    now,
    sinceBoot,
    rules: storeRules,
    random: dependencies.random,
    lockWaitMs,
    processes,
  });
  const random = await systemRandomness();
  const local: LocalOptions = {
    store,
    engines,
    limits: limitsWith(options.timeout),
    now,
    sinceBoot,
    random,
    ids: new IdSource(random),
    owner: turnOwner(dependencies.processes),
    say,
  };
  const backend: EmbeddedBackend = {
    service: new LocalService(local),
    archive: new LocalArchive(local),
    administration: new LocalAdministration(local),
    extensions: ['archive', 'idempotency', 'stream'],
    async close() {
      try {
        await engines.close?.();
      } finally {
        await store.close();
      }
    },
  };
  const defaultMode = () => engines.modes.find((mode) => mode.default)?.name ?? '';
  return { backend, store, shareReads, limits: local.limits, defaultMode, isNew: created, reloadModes };
}

function turnOwner(processes: ProcessTable): TurnOwner {
  const owner = processIdentity(processes);
  // All processes at one SQLite store run on one machine (store/sqlite/lease-clock.ts).
  const isGone = (other: string) => owner.stateOf(other) === 'gone' || isOfEarlierBoot(other, owner);
  return { id: owner.name, isGone };
}

/** A caller that waits less for an answer also waits less for a lock. */
function lockWaitWith(timeout: number | null): number {
  return timeout === null ? usualLockWaitMs : Math.min(timeout * 1000, usualLockWaitMs);
}

function limitsWith(timeout: number | null): Limits {
  if (timeout === null) return defaultLimits;
  return { ...defaultLimits, firstTokenMs: timeout * 1000, silenceMs: timeout * 1000 };
}
