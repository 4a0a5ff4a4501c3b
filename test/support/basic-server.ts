// A server with only the interface document, whose sessions are only ids, and with the faults that a test chooses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from './scripted-server.ts';

/** The outcome of a deletion: `lost` is done, but gets no response; `hung` never gets one; `closed` is for a day. */
export type Trouble = 'none' | 'failed' | 'reset' | 'lost' | 'hung' | 'limited' | 'down' | 'closed';

export interface BasicServer {
  readonly url: string;
  /** The existing sessions. */
  readonly active: Set<string>;
  readonly deleted: Set<string>;
  /** Ids whose deletion got no response at least once: the client cannot know whether they existed. */
  readonly unanswered: Set<string>;
  /** Valid keys. */
  readonly keys: Set<string>;
  /** The number of requested deletions, and the most at one time. */
  readonly deletions: () => number;
  readonly atOnce: () => number;
  close(): Promise<void>;
}

export interface BasicServerOptions {
  readonly ids: Iterable<string>;
  readonly trouble?: (count: number) => Trouble;
  /** Called with the number of each deletion before it is handled. */
  readonly before?: (count: number, server: BasicServer) => void;
  /** The duration of a deletion in ms. */
  readonly takes?: number;
  readonly projectId?: string;
}

export async function openBasicServer(options: BasicServerOptions): Promise<BasicServer> {
  let deletions = 0;
  let running = 0;
  let peak = 0;
  const http = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(request, response));
  });
  const { url, close } = await listening(http, 'http');
  const server: BasicServer = {
    ...{ url, close },
    active: new Set(options.ids),
    deleted: new Set(),
    unanswered: new Set(),
    keys: new Set(['key-1']),
    deletions: () => deletions,
    atOnce: () => peak,
  };

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request;
    const isDeletion = method === 'DELETE' && url.startsWith('/v1/sessions/');
    if (isDeletion) {
      deletions += 1;
      options.before?.(deletions, server);
    }
    if (!server.keys.has((request.headers.authorization ?? '').replace('Bearer ', ''))) {
      send(response, 401, { code: 'INVALID_API_KEY', message: 'No.' });
      return;
    }
    const id = decodeURIComponent(url.split('/').at(-1) ?? '');
    if (isDeletion) {
      begin(id, response);
      return;
    }
    if (url === '/v1/auth/verify') {
      send(response, 200, options.projectId === undefined ? {} : { project_id: options.projectId });
      return;
    }
    if (method === 'GET' && server.active.has(id)) {
      send(response, 200, { session_id: id });
      return;
    }
    send(response, 404, { code: 'SESSION_NOT_FOUND', message: 'There is no such session.' });
  }

  function begin(id: string, response: ServerResponse): void {
    running += 1;
    peak = Math.max(peak, running);
    const count = deletions;
    const go = () => {
      running -= 1;
      remove(id, options.trouble?.(count) ?? 'none', response);
    };
    if (options.takes === undefined) go();
    else setTimeout(go, options.takes);
  }

  function remove(id: string, trouble: Trouble, response: ServerResponse): void {
    if (trouble === 'failed') {
      send(response, 500, { code: 'INTERNAL_ERROR', message: 'Oh.' });
      return;
    }
    if (trouble === 'limited') {
      send(response, 429, { code: 'RATE_LIMITED', message: 'Slow.' }, '0');
      return;
    }
    if (trouble === 'down') {
      send(response, 503, { code: 'UNAVAILABLE', message: 'Later.' }, '1');
      return;
    }
    if (trouble === 'closed') {
      send(response, 503, { code: 'UNAVAILABLE', message: 'Tomorrow.' }, '86400');
      return;
    }
    if (trouble === 'reset' || trouble === 'hung' || trouble === 'lost') server.unanswered.add(id);
    if (trouble === 'reset') {
      response.socket?.resetAndDestroy();
      return;
    }
    if (trouble === 'hung') return;
    const isThere = server.active.delete(id);
    if (isThere) server.deleted.add(id);
    if (trouble === 'lost') {
      response.socket?.destroy();
      return;
    }
    if (isThere) {
      send(response, 200, { session_id: id });
      return;
    }
    send(response, 404, { code: 'SESSION_NOT_FOUND', message: 'There is no such session.' });
  }

  return server;
}

function send(
  response: ServerResponse,
  status: number,
  data: object,
  retryAfter: string | null = null,
): void {
  const isDone = status < 300;
  const text = JSON.stringify(isDone ? { success: true, data } : { success: false, error: data });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(retryAfter !== null && { 'retry-after': retryAfter }),
  });
  response.end(text);
}
