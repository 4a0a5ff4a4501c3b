// Puts the embedded service together: the store, the engines and the identity of this process. A remote backend does not load this code.
import { profileOfStore } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import type { StoredConfig } from '../config/stored-config.ts';
import { IdSource } from '../local/ids.ts';
import { KeyCheck } from '../local/key-check.ts';
import { LocalAdministration } from '../local/local-administration.ts';
import { LocalArchive } from '../local/local-archive.ts';
import type { LocalOptions } from '../local/local-options.ts';
import { LocalService } from '../local/local-service.ts';
import type { Say } from '../local/slow-store-notice.ts';
import { TurnQueue } from '../local/turn-queue.ts';
import type { EmbeddedBackend } from '../service/backend.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from '../service/backend-opening.ts';
import { ParleyError } from '../service/errors.ts';
import { extensions } from '../service/extensions.ts';
import { defaultLimits } from '../service/limits.ts';
import { hasStore } from '../store/sqlite/open.ts';
import type { ProcessesOf } from '../store/sqlite/store-processes.ts';
import type { ChosenStore } from './chosen-store.ts';
import { configuredEngines, replaceableEngines } from './configured-engines.ts';
import type { Dependencies } from './dependencies.ts';
import { followedModes } from './followed-modes.ts';
import { type ModeSource, modesOfMachine } from './mode-source.ts';
import { defaultChoice, openChosenStore } from './store-choice.ts';
import { keyOf, refuseEmptiedStore, refuseMissingStore } from './store-key.ts';
import { systemRandomness } from './system-randomness.ts';

/** Opens the store of a target and finds the key for it. */
export async function openEmbeddedBackend(
  target: Target,
  dependencies: Dependencies,
  options: BackendOptions,
): Promise<OpenedBackend> {
  const { dataDirectory, profileFile } = dependencies;
  const isPostgres = target.store !== null;
  const exists = isPostgres || hasStore(dataDirectory);
  if (options.onlyExisting && (target.key === null || !exists)) throw noStore();
  // The configuration is read again here, because a reopened context must use the current modes. It is read before the store is opened,
  // because a process that creates the first store at the same time stores its key last.
  const config = profileFile.read();
  const profile = options.beginsStore ? null : profileOfStore(config, target.storeName);
  if (!isPostgres) refuseMissingStore(profile, exists, dataDirectory);
  const { isNew, modes, reloadModes, store, ...opened } = await openLocal(dependencies, {
    options,
    async openStore() {
      const choice = { ...defaultChoice, timeout: options.timeout, say: options.say };
      const chosen = await openChosenStore(target, dependencies, choice);
      if (!options.keepsNoText) return chosen;
      const { withoutText } = await import('./memory-choice.ts');
      return { ...chosen, store: await withoutText(chosen.store, dependencies) };
    },
    ownModes: isPostgres ? null : modesOfMachine(profileFile, config),
    say: options.say,
  });
  const follows = options.followsModes && modes !== null;
  const contracts = follows ? followedModes(opened.backend, modes, reloadModes) : {};
  const backend = { ...opened.backend, ...contracts };
  try {
    if (options.onlyExisting && isNew) throw noStore();
    if (isPostgres) refuseEmptiedStore(profile, !isNew, target.storeName);
    else refuseMissingStore(profile, !isNew, dataDirectory);
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

/** Opens an embedded store for a server. */
export async function openServedBackend(
  target: Pick<Target, 'store' | 'storeName'>,
  dependencies: Dependencies,
  options: ServeOptions,
): Promise<ServedBackend> {
  const { dataDirectory, profileFile } = dependencies;
  const config = profileFile.read();
  const profile = profileOfStore(config, target.storeName);
  if (target.store === null) refuseMissingStore(profile, hasStore(dataDirectory), dataDirectory);
  await (await import('./request-code.ts')).loadRequestCode(target.store === null);
  const { store, shareReads, modes, ...opened } = await openLocal(dependencies, {
    options: { ...options, trace: null },
    // The timeout of a server limits only its models. Each client has a timeout of its own.
    async openStore() {
      const storeProcesses = target.store === null ? await servedProcesses() : undefined;
      const { refusesOlder } = options;
      return openChosenStore(target, dependencies, {
        timeout: null,
        storeProcesses,
        refusesOlder,
        isServer: true,
        say: options.say,
      });
    },
    ownModes: ownModes(target, config, dependencies, options),
    say: null,
  });
  if (modes?.follow && (await modes.read()) === null && Object.keys(config.modes).length > 0) {
    await options.say(
      `The store ${target.storeName} has no modes yet. The modes in ${profileFile.path} are not used with it.`,
    );
  }
  const { backend, defaultMode, servers, measures, reloadModes } = opened;
  return {
    backend,
    defaultMode,
    servers,
    measures,
    reloadModes,
    ready: () => store.ping(),
    shareReads,
    followModes: modes?.follow ?? null,
  };
}

/** The processes for the long reads of SQLite. PostgreSQL has its own processes. The build puts the file of the worker beside this code. */
async function servedProcesses(): Promise<ProcessesOf> {
  const { StoreProcesses } = await import('../store/sqlite/store-processes.ts');
  return (place) => new StoreProcesses(new URL('./store-worker.cjs', import.meta.url), place);
}

async function readModes(path: string, signal: AbortSignal) {
  const { readModesFile } = await import('../config/modes-file.ts');
  return readModesFile(path, signal);
}

/** The modes of the file in `modesFile`, or of this machine's configuration. Null if the store keeps the modes for all its servers. */
function ownModes(
  { store }: Pick<Target, 'store'>,
  config: StoredConfig,
  { profileFile, signal }: Dependencies,
  { modesFile }: ServeOptions,
): Pick<ModeSource, 'read' | 'follow'> | null {
  if (modesFile !== null) return { read: () => readModes(modesFile, signal), follow: null };
  return store === null ? modesOfMachine(profileFile, config) : null;
}

interface LocalChoice<Modes> {
  readonly options: EngineOptions;
  readonly openStore: () => Promise<ChosenStore>;
  /** They are read before the store is opened. Null for the modes of the store. */
  readonly ownModes: Modes | null;
  readonly say: Say | null;
}

async function openLocal<Modes extends Pick<ModeSource, 'read' | 'follow'>>(
  dependencies: Dependencies,
  { options, openStore, ownModes, say }: LocalChoice<Modes>,
) {
  const { now, sinceBoot } = dependencies;
  // A faulty file of authorities is refused before anything is stored.
  await dependencies.readAuthorities(options.authorityFile);
  const enginesOf = async (modes: Pick<ModeSource, 'read'> | null) =>
    configuredEngines(dependencies, options, (await modes?.read()) ?? null);
  const ownEngines = ownModes && (await enginesOf(ownModes));
  const { store, created, owner, modes: modesOfStore, ...opened } = await openStore();
  const modes = ownModes ?? modesOfStore;
  const { engines, replace } = replaceableEngines(ownEngines ?? (await enginesOf(modes)));
  const reloadModes = async () => replace(await enginesOf(modes));
  const random = await systemRandomness();
  const limits = defaultLimits;
  const ids = new IdSource(random);
  const local: LocalOptions = { store, engines, limits, now, sinceBoot, random, ids, owner, say };
  const turnQueue = new TurnQueue();
  const keys = new KeyCheck(local);
  const archive = new LocalArchive(local, turnQueue, keys);
  const backend: EmbeddedBackend = {
    service: new LocalService(local, turnQueue, keys),
    archive,
    administration: new LocalAdministration(local),
    extensions,
    shareReads: opened.shareReads,
    async close() {
      try {
        await engines.close?.();
        await Promise.all([archive.finish(), keys.finish()]);
      } finally {
        await store.close();
      }
    },
  };
  const defaultMode = () => engines.modes.find((mode) => mode.default)?.name ?? '';
  const { shareReads, servers, measures } = opened;
  return {
    backend,
    store,
    shareReads,
    servers,
    measures,
    defaultMode,
    isNew: created,
    modes,
    reloadModes,
  };
}
