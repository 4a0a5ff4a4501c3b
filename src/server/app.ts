// The API over any service: a request in, a response out, without a socket. The app checks keys and shapes, gives every failure the same
// form of body, and writes the log. It adds no rule to those of the service. listen.ts deals with sockets.
import type { Readable } from 'node:stream';
import { Hono } from 'hono/tiny';
import type { ParleyError } from '../service/errors.ts';
import { monotonicMs } from '../system/monotonic-clock.ts';
import { apiRoutes, RequestCall } from './api-routes.ts';
import type { ChatDependencies } from './chat-handler.ts';
import { ChunkReader } from './chunk-reader.ts';
import { ClientDisconnected, clientDisconnectedStatus } from './client-disconnected.ts';
import type { Services } from './handlers.ts';
import { KeyWatch } from './key-watch.ts';
import { LargeRequests } from './large-requests.ts';
import { publicFailure } from './public-failure.ts';
import { publicRoutes } from './public-routes.ts';
import { RateLimiter } from './rate-limiter.ts';
import { contextOfUnreadRequest, isOfApi, type RequestContext, requestContextOf } from './request-context.ts';
import { RequestLog } from './request-log.ts';
import { failureResponse } from './responses.ts';
import { methodsAt, noSuchRoute, type ServedRoute, wrongMethod } from './routing.ts';
import { RunningReplies, stopping } from './running-replies.ts';
import type { ServerLimits } from './server-limits.ts';
import type { ServerLog } from './server-log.ts';
import type { ServerMetrics } from './server-metrics.ts';

interface AppOptions extends Services {
  readonly serverLimits: ServerLimits;
  readonly version: string;
  readonly logger: ServerLog['logger'];
  /** Resolves when the store can be written, and rejects while it cannot. */
  ready(): Promise<void>;
  /** Epoch milliseconds. */
  now(): number;
  newRequestId(): string;
  /** The number of live servers, which share the limits of a key. */
  servers(): number;
  /** Called when a request arrives, before any work on it. */
  onRequest(): void;
  /** Counts the requests and turns; null for a server without metrics. */
  readonly metrics: ServerMetrics | null;
}

export class App {
  readonly #options: AppOptions;
  readonly #rateLimiter: RateLimiter;
  readonly #replies = new RunningReplies();
  readonly #log: RequestLog;
  /** The requests whose response is a stream. */
  readonly #streaming = new WeakSet<RequestContext>();
  readonly #routes: readonly ServedRoute[];
  readonly #router: Hono<{ Bindings: RequestContext }>;

  constructor(options: AppOptions) {
    const { service, serverLimits, version, logger, now, servers, ready, metrics } = options;
    const replies = this.#replies;
    this.#options = options;
    this.#rateLimiter = new RateLimiter(service, serverLimits, { now, servers });
    this.#log = new RequestLog({ logger, metrics, isStopping: () => replies.isStopping });
    const bodies = { chunkReader: new ChunkReader(), largeRequests: new LargeRequests(serverLimits) };
    this.#routes = [
      ...apiRoutes({
        services: options,
        rateLimiter: this.#rateLimiter,
        chat: this.#chatDependencies(),
        bodies,
        bodyBytes: serverLimits.bodyBytes,
      }),
      ...publicRoutes({ version, replies, ready }),
    ];
    this.#router = routerOf(this.#routes, (context, request) => this.#refuseRoute(context, request));
  }

  /** Never rejects. `incoming`: Node's stream of the body, where there is one. The body of `request` is then not used. */
  async fetch(request: Request, incoming?: Readable): Promise<Response> {
    this.#options.onRequest();
    const response = await this.#respond(request, incoming ?? null);
    // The client sends its next request over a new connection, which a load balancer can give to another server.
    if (this.#replies.isDraining) response.headers.set('Connection', 'close');
    return response;
  }

  /** The response to bytes that could not be read as a request. */
  refuse(error: ParleyError, status: number): Response {
    const context = contextOfUnreadRequest(this.#options.newRequestId(), monotonicMs());
    this.#log.record(context, status, error);
    return failureResponse(context, error, { status, headers: { Connection: 'close' } });
  }

  /**
   * The server reports at once that it is not ready, but accepts new work until the drain period is over. Resolves when no reply is running.
   * After the grace period the remaining replies are cut, and their received parts are stored.
   */
  stop(): Promise<void> {
    return this.#replies.stop(this.#options.serverLimits);
  }

  #chatDependencies(): ChatDependencies {
    const { service, serverLimits, metrics } = this.#options;
    return {
      replies: this.#replies,
      keys: new KeyWatch(service, serverLimits.keyCheckMs),
      heartbeatMs: serverLimits.heartbeatMs,
      countTurn: (events) => metrics?.countTurn(events) ?? events,
      onFallback: (context, failure) => this.#log.recordFallback(context, failure),
      onStreamStart: (context) => {
        this.#streaming.add(context);
        metrics?.countStreamStart();
      },
      onStreamEnd: (context, error) => {
        metrics?.countStreamEnd();
        this.#log.record(context, 200, error);
      },
    };
  }

  async #respond(request: Request, incoming: Readable | null): Promise<Response> {
    const context = requestContextOf(request, incoming, this.#options.newRequestId(), monotonicMs());
    try {
      if (this.#replies.isStopping && isOfApi(context)) throw stopping();
      // hono's router ignores a trailing slash.
      const hasTrailingSlash = context.path !== '/' && context.path.endsWith('/');
      const response = await (hasTrailingSlash
        ? this.#refuseRoute(context, request)
        : this.#router.fetch(request, context));
      // A stream is recorded when it ends.
      if (!this.#streaming.has(context)) this.#log.record(context, response.status, null);
      return response;
    } catch (error) {
      return this.#fail(context, error);
    }
  }

  async #refuseRoute(context: RequestContext, request: Request): Promise<Response> {
    if (isOfApi(context)) await this.#rateLimiter.admit(new RequestCall(context, request), false);
    const methods = methodsAt(this.#routes, context.path);
    throw methods.length === 0 ? noSuchRoute() : wrongMethod(methods);
  }

  #fail(context: RequestContext, error: unknown): Response {
    if (error instanceof ClientDisconnected) {
      this.#log.record(context, clientDisconnectedStatus, error);
      return new Response(null, { status: clientDisconnectedStatus });
    }
    const failure = publicFailure(error);
    const isWrongMethod = failure.code === 'METHOD_NOT_ALLOWED';
    const headers = isWrongMethod ? { Allow: methodsAt(this.#routes, context.path).join(', ') } : {};
    const response = failureResponse(context, failure, { headers });
    this.#log.record(context, response.status, error);
    return response;
  }
}

/**
 * Routes requests with hono's tiny router, the fastest one for few routes. Every failure is thrown out of the router, so that one place
 * responds to failures.
 */
function routerOf(
  routes: readonly ServedRoute[],
  refuseRoute: (context: RequestContext, request: Request) => Promise<Response>,
): Hono<{ Bindings: RequestContext }> {
  const hono = new Hono<{ Bindings: RequestContext }>();
  // A route with a fixed word comes before a route with `:id` that would match the same path.
  const hasParameter = ({ path }: ServedRoute) => Number(path.includes(':'));
  for (const { method, path, serve } of routes.toSorted((a, b) => hasParameter(a) - hasParameter(b))) {
    hono.on(method, path, (context) => {
      context.env.route = path;
      return serve(context.env, context.req.raw, context.req.param('id') ?? '');
    });
  }
  hono.notFound((context) => refuseRoute(context.env, context.req.raw));
  hono.onError((error) => {
    throw error;
  });
  return hono;
}
