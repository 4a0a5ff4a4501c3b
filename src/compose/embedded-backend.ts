// The embedded service, put together: which store, which engines, and whose turn it is. Loaded only for a backend on this machine.

import type { Target } from '../config/settings.ts';
import type { EngineSet } from '../engine/engine-set.ts';
import { IdSource } from '../local/ids.ts';
import { LocalAdministration } from '../local/local-administration.ts';
import { LocalArchive } from '../local/local-archive.ts';
import type { LocalOptions, TurnOwner } from '../local/local-options.ts';
import { LocalService } from '../local/local-service.ts';
import { storeRules } from '../local/store-rules.ts';
import type { EmbeddedBackend } from '../service/backend.ts';
import type {
  BackendOptions,
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
import { configuredEngines, type EngineChoice, exchangeableEngines } from './configured-engines.ts';
import { followedModes } from './followed-modes.ts';
import { keyOf, profileThatKnows, refuseMissingStore } from './store-key.ts';
import type { Surroundings } from './surroundings.ts';
import { systemRandomness } from './system-randomness.ts';

/** Opens the store of this machine, and resolves the key to call it with. */
export async function openEmbeddedBackend(
  target: Target,
  surroundings: Surroundings,
  options: BackendOptions,
): Promise<OpenedBackend> {
  if (options.onlyExisting && (target.key === null || !hasStore(surroundings.dataDirectory))) throw noStore();
  const { dataDirectory } = surroundings;
  const knownTo = options.beginsStore ? null : profileThatKnows(surroundings);
  refuseMissingStore(knownTo, hasStore(dataDirectory), dataDirectory);
  const follow = options.followsModes ? followedModes(surroundings.profileFile) : null;
  const { isNew, reloadModes, store, ...opened } = await openLocal(
    surroundings,
    options,
    lockWaitWith(options.timeout),
    () => configuredEngines(surroundings, options, null),
  );
  const service = follow?.(opened.backend.service, reloadModes) ?? opened.backend.service;
  const backend = { ...opened.backend, service };
  try {
    if (options.onlyExisting && isNew) throw noStore();
    refuseMissingStore(knownTo, !isNew, dataDirectory);
    return { backend, apiKey: await keyOf(target, { backend, store, isNew }, surroundings, options) };
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

export async function openServedBackend(
  surroundings: Surroundings,
  options: ServeOptions,
): Promise<ServedBackend> {
  const { StoreProcesses } = await import('../store/sqlite/store-processes.ts');
  const choice = { ...options, trace: null };
  const { modesFile } = options;
  const { dataDirectory } = surroundings;
  refuseMissingStore(profileThatKnows(surroundings), hasStore(dataDirectory), dataDirectory);
  const engines = async () =>
    configuredEngines(surroundings, choice, modesFile === null ? null : await readModes(modesFile));
  const { backend, store, shareReads, limits, defaultMode, reloadModes } = await openLocal(
    surroundings,
    choice,
    // Its own time-out is that of its models; a client has another.
    usualLockWaitMs,
    engines,
    // The file stands beside the chunk of the build that this stands in.
    (place) => new StoreProcesses(new URL('./store-worker.cjs', import.meta.url), place),
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
  surroundings: Surroundings,
  choice: EngineChoice,
  lockWaitMs: number,
  readEngines: () => Promise<EngineSet>,
  processes?: ProcessesOf,
) {
  const { dataDirectory, nodeApiVersion, now, sinceBoot } = surroundings;
  const { engines, exchange } = exchangeableEngines(await readEngines());
  const reloadModes = async () => exchange(await readEngines());
  const { store, created, shareReads } = await openSqliteStore({
    directory: dataDirectory,
    nodeApiVersion,
    now,
    sinceBoot,
    rules: storeRules,
    random: surroundings.random,
    lockWaitMs,
    processes,
  });
  const random = await systemRandomness();
  const local: LocalOptions = {
    store,
    engines,
    limits: limitsWith(choice.timeout),
    now,
    random,
    ids: new IdSource(random),
    owner: turnOwner(surroundings.processes),
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
  // All processes at one store of SQLite are of one machine (store/sqlite/lease-clock.ts).
  const isGone = (other: string) => owner.stateOf(other) === 'gone' || isOfEarlierBoot(other, owner);
  return { id: owner.name, isGone };
}

/** Who waits less for an answer waits less for a lock, too. */
function lockWaitWith(timeout: number | null): number {
  return timeout === null ? usualLockWaitMs : Math.min(timeout * 1000, usualLockWaitMs);
}

function limitsWith(timeout: number | null): Limits {
  if (timeout === null) return defaultLimits;
  return { ...defaultLimits, firstTokenMs: timeout * 1000, silenceMs: timeout * 1000 };
}
