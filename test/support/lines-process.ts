// A process with the service over a store, embedded or at a port. Its parent sends it operations, controls the replies, and kills it.
import { once } from 'node:events';
import { ParleyError } from '../../src/service/errors.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { callWith } from './calls.ts';
import { type EmbeddedOptions, engineOf, openEmbedded } from './embedded.ts';
import { lives } from './living-owner.ts';

export interface LinesStore {
  /** The directory of a SQLite store; unused with `postgres`. */
  readonly directory: string;
  readonly postgres: { readonly port: number; readonly user: string; readonly database: string } | null;
  /** True: the process serves its store at a port. */
  readonly serves: boolean;
}

/** How the engine replies. */
export interface LinesReply {
  readonly text: string;
  readonly finish: 'stop' | 'error' | 'interrupted';
}

export type LinesRoom = 'service' | 'archive' | 'administration';

export type LinesOrder =
  | { readonly kind: 'open'; readonly store: LinesStore }
  | {
      readonly kind: 'call';
      readonly number: number;
      readonly room: LinesRoom;
      readonly method: string;
      /** Null for the administration. */
      readonly call: { readonly apiKey: string; readonly idempotencyKey: string | null } | null;
      readonly values: readonly unknown[];
    }
  | { readonly kind: 'stop'; readonly number: number }
  | { readonly kind: 'reply'; readonly reply: LinesReply };

export type LinesAnswer =
  | { readonly kind: 'open'; readonly url: string | null }
  /** The engine was given these texts, and waits for its reply. */
  | { readonly kind: 'asked'; readonly given: readonly string[] }
  /** The engine has given the text of the reply. */
  | { readonly kind: 'said' }
  | { readonly kind: 'event'; readonly number: number; readonly event: unknown }
  | { readonly kind: 'done'; readonly number: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly number: number; readonly code: string; readonly message: string };

// biome-ignore lint/suspicious/noExplicitAny: a method is found by its name
type Room = Readonly<Record<string, (...values: readonly unknown[]) => any>>;

const tell = (answer: LinesAnswer) => process.send?.(answer);
const running = new Map<number, AbortController>();
let rooms: Readonly<Record<LinesRoom, Room>> | null = null;
let takeReply: (reply: LinesReply) => void = () => {};

const engines = engineOf(async function* ({ history, message }, signal) {
  const replied = new Promise<LinesReply>((resolve) => {
    takeReply = resolve;
  });
  tell({ kind: 'asked', given: [...history.map(({ content }) => content), message] });
  const { text, finish } = await replied;
  yield { type: 'text', text };
  tell({ kind: 'said' });
  if (finish === 'error') throw new ParleyError('ENGINE_FAILED', 'The engine failed.');
  if (finish === 'interrupted' && !signal.aborted) await once(signal, 'abort');
  signal.throwIfAborted();
  yield { type: 'finish', reason: 'stop', usage: null };
});

process.on('message', async (order: LinesOrder) => {
  if (order.kind === 'open') await open(order.store);
  else if (order.kind === 'reply') takeReply(order.reply);
  else if (order.kind === 'stop') running.get(order.number)?.abort(new Error('stopped'));
  else await perform(order);
});

async function open({ directory, postgres, serves }: LinesStore): Promise<void> {
  const id = `process ${process.pid}`;
  const isGone = (other: string) => other === 'gone' || (postgres === null && !lives(other));
  const openStore = postgres === null ? null : () => openPostgres(postgres, serves ? id : null);
  const options: EmbeddedOptions = {
    engines,
    owner: { id, isGone },
    // A killed process on a server's database holds its turns for this long.
    limits: { turnLeaseMs: postgres === null ? 15_000 : leaseMs },
    ...(openStore && { openStore }),
  };
  if (!serves) {
    rooms = roomsOf(await openEmbedded(directory, options));
    tell({ kind: 'open', url: null });
    return;
  }
  const { openServer } = await import('../server/server-fixture.ts');
  const server = await openServer({ ...options, directory });
  rooms = roomsOf(server.backend);
  tell({ kind: 'open', url: (await server.listen()).url });
}

const leaseMs = 1000;

async function openPostgres(
  place: NonNullable<LinesStore['postgres']>,
  owner: string | null,
): Promise<SessionStore> {
  const { openPostgresStore } = await import('../../src/store/postgres/open.ts');
  const { storeRules: rules } = await import('../../src/local/local-store-rules.ts');
  const opened = await openPostgresStore({
    ...{ name: 'PostgreSQL', hosts: [{ host: '127.0.0.1', ...place }], schema: 'parley', rules },
    ...{
      now: Date.now,
      random: Math.random,
      connections: 2,
      patienceMs: 3000,
      prepare: true,
      acceptsLoss: true,
    },
    ...(owner !== null && { server: { owner, beatMs: 200, leaseMs } }),
  });
  return opened.store;
}

function roomsOf(backend: object): Readonly<Record<LinesRoom, Room>> {
  return backend as Readonly<Record<LinesRoom, Room>>;
}

async function perform({ number, room, method, call, values }: Extract<LinesOrder, { kind: 'call' }>) {
  const stop = new AbortController();
  running.set(number, stop);
  const given = call === null ? values : [callWith(call.apiKey, { ...call, signal: stop.signal }), ...values];
  try {
    const answer = rooms?.[room][method]?.(...given);
    if (answer !== undefined && Symbol.asyncIterator in answer) {
      for await (const event of answer) tell({ kind: 'event', number, event });
      tell({ kind: 'done', number, value: null });
    } else tell({ kind: 'done', number, value: await answer });
  } catch (error) {
    const code = error instanceof ParleyError ? error.code : 'INTERNAL_ERROR';
    tell({ kind: 'failed', number, code, message: String(error) });
  } finally {
    running.delete(number);
  }
}
