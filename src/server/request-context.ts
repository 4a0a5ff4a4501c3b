// The facts of one request that its response and its line in the log need, and where its body is read.
import type { Readable } from 'node:stream';

export interface RequestContext {
  readonly requestId: string;
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Without its question mark; empty if there is none. */
  readonly query: string;
  readonly apiKey: string;
  /** Milliseconds of the steady clock (`monotonicMs`), which a change of the time of day does not affect. */
  readonly startedAt: number;
  /** Node's stream of the body; null for a request without a socket, whose body is read from the request itself. */
  readonly incoming: Readable | null;
  /** The path of the route that serves the request, such as `/v1/sessions/:id`; empty for none. */
  route: string;
}

export function requestContextOf(
  request: Request,
  incoming: Readable | null,
  requestId: string,
  startedAt: number,
): RequestContext {
  const { url, method, headers } = request;
  const pathAt = url.indexOf('/', url.indexOf('://') + 3);
  const target = url.slice(pathAt).split('#', 1)[0] ?? '';
  const queryAt = target.indexOf('?');
  return {
    requestId,
    method,
    path: queryAt === -1 ? target : target.slice(0, queryAt),
    query: queryAt === -1 ? '' : target.slice(queryAt + 1),
    apiKey: bearerKey(headers),
    startedAt,
    incoming,
    route: '',
  };
}

/** The context of bytes that could not be read as a request. */
export function contextOfUnreadRequest(requestId: string, startedAt: number): RequestContext {
  return { requestId, method: '', path: '', query: '', apiKey: '', startedAt, incoming: null, route: '' };
}

/** True for a path under the prefix of the API, whether a route has that path or not. */
export function isOfApi({ path }: RequestContext): boolean {
  return path === '/v1' || path.startsWith('/v1/');
}

/** The key in the Authorization header; empty if there is none. An empty key is refused like any invalid key. */
function bearerKey(headers: Headers): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
}
