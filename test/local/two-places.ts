// Two services over one store, as in two processes: two embedded ones, or two servers with clients.
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { EngineEvent } from '../../src/engine/reply-engine.ts';
import type { TurnOwner } from '../../src/local/local-options.ts';
import type { Backend } from '../../src/service/backend.ts';
import type { Limits } from '../../src/service/limits.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { openServer } from '../server/server-fixture.ts';
import { engineOf, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { openRemote } from '../support/remote.ts';

export interface PlaceOptions {
  readonly engines: EngineSet;
  readonly limits?: Partial<Limits>;
  readonly now?: () => number;
  readonly owner?: TurnOwner;
  /** Wraps the store of the service. */
  readonly around?: (store: SessionStore) => SessionStore;
}

export interface TwoPlaces {
  /** A service over the store, with an owner of its own. It considers every other owner alive unless the options say otherwise. */
  open(options: PlaceOptions): Promise<Backend>;
  /** The id of the only project; known when a first place is open. */
  readonly key: string;
  close(): Promise<void>;
}

export type PlaceKind = 'embedded' | 'served';

export async function twoPlaces(kind: PlaceKind): Promise<TwoPlaces> {
  const { path, remove } = await temporaryDirectory();
  const closing: (() => Promise<void>)[] = [];
  let key = '';
  let opened = 0;
  const open = async (options: PlaceOptions): Promise<Backend> => {
    const number = ++opened;
    const all = { owner: { id: `owner ${number}`, isGone: () => false }, ...options };
    if (kind === 'embedded') {
      const backend = await openEmbedded(path, all);
      closing.push(() => backend.close());
      key ||= await newKey(backend, 'first');
      return backend;
    }
    const server = await openServer({ ...all, directory: path });
    let keys = 0;
    const newIdempotencyKey = () => `key-${number}-${++keys}`;
    const { backend } = await openRemote((await server.listen()).url, { newIdempotencyKey });
    closing.push(async () => {
      await backend.close();
      await server.close();
    });
    key ||= server.key;
    return backend;
  };
  return {
    open,
    get key() {
      return key;
    },
    async close() {
      for (const close of closing.reverse()) await close();
      await remove();
    },
  };
}

/** Considers every other owner dead, so it takes any turn that it requests. */
export const taker: TurnOwner = { id: 'taker', isGone: (owner) => owner !== 'taker' };

/** A store that delays the renewals of a turn: until they are let through, its service does not notice that a turn is lost. */
export function heldRenewals(): { around(store: SessionStore): SessionStore; letThem(): void } {
  let letThem = () => {};
  const areLet = new Promise<void>((resolve) => {
    letThem = resolve;
  });
  return {
    around(store) {
      const renewTurn = store.renewTurn.bind(store);
      return Object.assign(store, {
        renewTurn: async (...values: Parameters<typeof renewTurn>) => {
          await areLet;
          return renewTurn(...values);
        },
      });
    },
    letThem,
  };
}

/** An engine that sends some texts and ends. */
export function saying(...texts: readonly string[]): EngineSet {
  return engineOf(async function* () {
    for (const text of texts) yield { type: 'text', text };
    yield { type: 'finish', reason: 'stop', usage: null };
  });
}

export interface Gate {
  readonly engines: EngineSet;
  /** Resolves when the engine has been asked and has sent its first texts. */
  readonly reached: Promise<void>;
  /** The time when the engine was stopped (ms, as `performance.now`); null before that. */
  stoppedAt(): number | null;
  go(): void;
}

/** An engine that sends some texts, waits for `go`, and sends the others. With `isDeaf`, it ignores signals. */
export function gated(
  before: readonly string[],
  after: readonly string[] = [],
  { isDeaf = false }: { readonly isDeaf?: boolean } = {},
): Gate {
  let go = () => {};
  let reach = () => {};
  let stoppedAt: number | null = null;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const engines = engineOf(async function* (_, signal): AsyncGenerator<EngineEvent> {
    for (const text of before) yield { type: 'text', text };
    reach();
    const stopped = new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stoppedAt ??= performance.now();
        if (!isDeaf) reject(signal.reason);
      });
    });
    await Promise.race([gone, stopped]);
    for (const text of after) yield { type: 'text', text };
    yield { type: 'finish', reason: 'stop', usage: null };
  });
  return { engines, reached, stoppedAt: () => stoppedAt, go };
}
