// A server assembled as in the program: the embedded service, the app over it, and optionally a port.
import { randomUUID } from 'node:crypto';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { TurnOwner } from '../../src/local/local-options.ts';
import { App } from '../../src/server/app.ts';
import { type Listening, listen } from '../../src/server/listen.ts';
import { defaultServerLimits, type ServerLimits } from '../../src/server/server-limits.ts';
import { serverLog } from '../../src/server/server-log.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { Limits } from '../../src/service/limits.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

export interface FixtureOptions {
  readonly engines?: EngineSet;
  readonly limits?: Partial<Limits>;
  readonly serverLimits?: Partial<ServerLimits>;
  /** The directory of an existing store, for a second server over it. */
  readonly directory?: string;
  readonly ready?: () => Promise<void>;
  /** The store, if it is not SQLite in the directory. */
  readonly openStore?: () => Promise<SessionStore>;
  /** Wraps the store of the service. */
  readonly around?: (store: SessionStore) => SessionStore;
  readonly owner?: TurnOwner;
  readonly servers?: () => number;
  readonly now?: () => number;
  readonly lockWaitMs?: number;
}

export interface ServerFixture {
  readonly directory: string;
  readonly backend: EmbeddedBackend;
  readonly app: App;
  /** A key of the project `first`. */
  readonly key: string;
  readonly otherKey: string;
  /** What the server has logged so far. */
  log(): readonly Record<string, unknown>[];
  /** Sends a request to the app without a socket, with the key unless the headers have another one. */
  ask(method: string, path: string, init?: AskInit): Promise<Response>;
  listen(): Promise<Listening>;
  close(): Promise<void>;
}

export interface AskInit {
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export async function openServer(options: FixtureOptions = {}): Promise<ServerFixture> {
  const place = options.directory === undefined ? await temporaryDirectory() : null;
  const directory = options.directory ?? place?.path ?? '';
  const backend = await openEmbedded(directory, {
    ...(options.engines && { engines: options.engines }),
    ...(options.limits && { limits: options.limits }),
    ...(options.openStore && { openStore: options.openStore }),
    ...(options.around && { around: options.around }),
    ...(options.now && { now: options.now }),
    ...(options.lockWaitMs !== undefined && { lockWaitMs: options.lockWaitMs }),
    owner: options.owner ?? { id: `test ${randomUUID()}`, isGone: () => false },
  });
  const limits = { ...defaultServerLimits, ...options.serverLimits };
  let logged = '';
  const log = serverLog((lines) => {
    logged += lines;
  }, Date.now);
  const app = new App({
    onRequest: () => {},
    metrics: null,
    servers: options.servers ?? (() => 1),
    service: backend.service,
    archive: backend.archive,
    serverLimits: limits,
    version: '1.2.3',
    logger: log.logger,
    ready: options.ready ?? (() => Promise.resolve()),
    now: options.now ?? Date.now,
    newRequestId: () => `req_${randomUUID()}`,
  });
  const key = await newKey(backend, 'first');
  const otherKey = await newKey(backend, 'second');
  const listeners: Listening[] = [];
  return {
    directory,
    backend,
    app,
    key,
    otherKey,
    log() {
      log.flush();
      return logged
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
    ask: (method, path, init = {}) => app.fetch(requestOf(key, method, path, init)),
    async listen() {
      const listening = await listen(app, { host: '127.0.0.1', port: 0, limits });
      listeners.push(listening);
      return listening;
    },
    async close() {
      for (const listening of listeners) await listening.stop();
      await backend.close();
      await place?.remove();
    },
  };
}

export function requestOf(
  key: string,
  method: string,
  path: string,
  { headers, body, signal }: AskInit,
): Request {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Request(`http://server.test${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text !== undefined && { body: text }),
    ...(signal && { signal }),
  });
}

/** The body of a response of the API, which is always JSON. */
export async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}

interface Body {
  readonly success: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare what is in it with what they expect
  readonly data?: any;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly { readonly field: string; readonly problem: string }[];
    readonly session_id?: string;
    readonly message_id?: string;
  };
  readonly request_id?: string;
}
