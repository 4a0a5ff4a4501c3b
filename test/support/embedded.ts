// The embedded service over a store in a directory of its own, assembled as in the program.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import { offlineEngines } from '../../src/engine/offline/offline-engine-set.ts';
import type { EngineContext, EngineEvent, ReplyEngine } from '../../src/engine/reply-engine.ts';
import { IdSource } from '../../src/local/ids.ts';
import { KeyCheck } from '../../src/local/key-check.ts';
import { LocalAdministration } from '../../src/local/local-administration.ts';
import { LocalArchive } from '../../src/local/local-archive.ts';
import type { LocalOptions, TurnOwner } from '../../src/local/local-options.ts';
import { LocalService } from '../../src/local/local-service.ts';
import { TurnQueue } from '../../src/local/turn-queue.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { extensions } from '../../src/service/extensions.ts';
import { defaultLimits, type Limits } from '../../src/service/limits.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type ProcessesOf, StoreProcesses } from '../../src/store/sqlite/store-processes.ts';
import { placeStore } from './made-store.ts';
import { storeOptions } from './store-options.ts';

export interface EmbeddedOptions {
  readonly engines?: EngineSet;
  readonly limits?: Partial<Limits>;
  readonly owner?: TurnOwner;
  readonly say?: (line: string) => Promise<void>;
  readonly now?: () => number;
  /** The time since the machine started, in ms. */
  readonly sinceBoot?: () => number;
  /** How long a write waits for a locked store. */
  readonly lockWaitMs?: number;
  /** The built store-worker.ts, if the store runs long reads in processes, as a served store does. */
  readonly workerFile?: URL;
  /** The store, if it is not SQLite in the directory. */
  readonly openStore?: () => Promise<SessionStore>;
  /** Wraps the store of the service. */
  readonly around?: (store: SessionStore) => SessionStore;
}

/** Opens a backend in a directory; several may share one, as processes do. */
export async function openEmbedded(
  directory: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedBackend> {
  const now = options.now ?? (() => Date.now());
  const { lockWaitMs } = options;
  const wait = lockWaitMs === undefined ? {} : { lockWaitMs };
  const { workerFile } = options;
  const processes: ProcessesOf = workerFile && ((place) => new StoreProcesses(workerFile, place));
  const sinceBoot = options.sinceBoot ?? storeOptions(directory).sinceBoot;
  if (!options.openStore) await placeStore(directory);
  const store = options.openStore
    ? await options.openStore()
    : (await openSqliteStore({ ...storeOptions(directory), ...wait, now, sinceBoot, processes })).store;
  const local: LocalOptions = {
    store: options.around?.(store) ?? store,
    engines: options.engines ?? offlineEngines(),
    limits: { ...defaultLimits, ...options.limits },
    now,
    sinceBoot,
    random: randomBytes,
    ids: new IdSource(randomBytes),
    say: options.say ?? null,
    owner: options.owner ?? { id: `test ${process.pid}`, isGone: () => false },
  };
  const turnQueue = new TurnQueue();
  const keys = new KeyCheck(local);
  return {
    service: new LocalService(local, turnQueue, keys),
    archive: new LocalArchive(local, turnQueue, keys),
    administration: new LocalAdministration(local),
    extensions,
    close: () => store.close(),
  };
}

export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'parley-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export async function newKey(backend: EmbeddedBackend, project: string): Promise<string> {
  return (await backend.administration.createKey({ project_name: project, key_name: 'test' })).key;
}

type Reply = (context: EngineContext, signal: AbortSignal) => AsyncIterable<EngineEvent>;

/** One mode, `test`, whose replies the test decides. */
export function engineOf(reply: Reply, historyMessages = 100): EngineSet {
  const engine: ReplyEngine = {
    name: 'test',
    historyMessages,
    reply: (context, { signal }) => reply(context, signal),
  };
  const mode = { name: 'test', description: 'of a test', engine: 'test', model: null, default: true };
  return { modes: [mode], engine: (name) => (name === 'test' ? engine : null) };
}

export const finish: EngineEvent = { type: 'finish', reason: 'stop', usage: null };
