// The operations as routes. A request is checked in the order of the API: first its key, then its shape. The service checks whether the
// session exists.
import type { Call } from '../service/call.ts';
import { ParleyError } from '../service/errors.ts';
import { exportPurpose, idempotencyHeader, purposeHeader } from '../wire/headers.ts';
import { isStreamed, type Operation, routes, type StreamedOperation } from '../wire/routes.ts';
import { type ChatDependencies, respondWithReply } from './chat-handler.ts';
import { handlers, type JsonOperation, type OperationInput, replies, type Services } from './handlers.ts';
import { largeBytes } from './large-requests.ts';
import { type OperationShape, operationShapes } from './operation-shapes.ts';
import type { RateLimit, RateLimiter } from './rate-limiter.ts';
import { type BodyReading, bodySource, readBody } from './request-body.ts';
import type { RequestContext } from './request-context.ts';
import { checkShape, queryReader } from './request-shape.ts';
import { jsonResponse } from './responses.ts';
import type { ServedRoute } from './routing.ts';
import { nothing } from './schemas.ts';

interface ApiDependencies {
  readonly services: Services;
  readonly rateLimiter: RateLimiter;
  readonly chat: ChatDependencies;
  readonly bodies: BodyReading;
  readonly bodyBytes: number;
}

type Respond<Name extends Operation> = (
  context: RequestContext,
  request: Request,
  input: OperationInput<Name>,
  rateLimit: RateLimit,
) => Promise<Response>;

export function apiRoutes(dependencies: ApiDependencies): readonly ServedRoute[] {
  return (Object.keys(routes) as Operation[]).map((name) =>
    isStreamed(name) ? streamedRoute(dependencies, name) : jsonRoute(dependencies, name),
  );
}

/** The call of the service for a request. */
export class RequestCall implements Call {
  readonly apiKey: string;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
  readonly pacesItself = false;
  readonly showReasoning = false;
  projectId: string | null = null;
  readonly #request: Request;

  constructor({ apiKey, method, requestId }: RequestContext, request: Request) {
    this.apiKey = apiKey;
    this.idempotencyKey = method === 'POST' ? request.headers.get(idempotencyHeader) : null;
    this.requestId = requestId;
    this.#request = request;
  }

  get isExport(): boolean {
    return this.#request.headers.get(purposeHeader) === exportPurpose;
  }

  /** The signal is created when it is first read. Most operations end before anything could stop them, and never read it. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

function streamedRoute<Name extends StreamedOperation>(
  dependencies: ApiDependencies,
  name: Name,
): ServedRoute {
  const { chat, services } = dependencies;
  return route(dependencies, name, (context, request, input, rateLimit) =>
    respondWithReply(chat, { context, request, rateLimit, call: input.call }, (call, form) =>
      replies[name](services, { ...input, call }, form),
    ),
  );
}

function jsonRoute<Name extends JsonOperation>(dependencies: ApiDependencies, name: Name): ServedRoute {
  const { services } = dependencies;
  return route(dependencies, name, async (context, _request, input) =>
    jsonResponse(context, (await handlers[name](services, input)).body),
  );
}

function route<Name extends Operation>(
  { services, rateLimiter, bodies, bodyBytes }: ApiDependencies,
  name: Name,
  respond: Respond<Name>,
): ServedRoute {
  const { method, path } = routes[name];
  const shape: OperationShape = operationShapes[name];
  const { query: querySchema = nothing, body: bodySchema = nothing } = shape;
  const readQuery = queryReader(querySchema);
  const hasBody = method === 'POST' || method === 'PATCH';
  // Most requests have no query and no body. Their values are created once.
  const noQuery = querySchema.safeParse({}).success ? readQuery('') : null;
  const noBody = hasBody ? null : checkShape(bodySchema, {});
  const bodyLimits = {
    bytes: bodyBytes,
    json: { ...(shape.bounds ?? bodyBounds), lists: shape.lists ?? {} },
  };
  return {
    method,
    path,
    async serve(context, request, id) {
      const call = new RequestCall(context, request);
      const { rateLimit, projectId } = await rateLimiter.admit(call, !hasBody || isSmallBody(request));
      call.projectId = projectId;
      try {
        return await respondTo(context, request, { call, id, rateLimit });
      } catch (error) {
        // The key of a small request may not be checked yet. If the key is refused, that error comes before any other.
        if (projectId === null && isRequestFault(error)) await services.service.verify(call);
        throw error;
      }
    },
  };

  async function respondTo(
    context: RequestContext,
    request: Request,
    { call, id, rateLimit }: { call: Call; id: string; rateLimit: RateLimit },
  ): Promise<Response> {
    const query = (context.query === '' ? noQuery : null) ?? readQuery(context.query);
    // The query and the body have the schemas of `name`. The compiler cannot see that.
    const respondWith = (body: unknown) =>
      respond(context, request, { call, id, query, body } as OperationInput<Name>, rateLimit);
    if (noBody !== null) return respondWith(noBody);
    const { value, reservation } = await readBody(bodySource(context, request), bodyLimits, bodies);
    try {
      const body = checkShape(shape.checkedBody ?? bodySchema, value);
      // A turn may last long, and other large requests must not wait for its end.
      if (isStreamed(name)) reservation?.release();
      return await respondWith(body);
    } finally {
      reservation?.release();
    }
  }
}

/** The limits of a JSON body. Bodies without parameters nest four deep. Without its lists, such a body has fewer than a hundred values. */
const bodyBounds = { depth: 8, values: 100 };

function isSmallBody({ headers }: Request): boolean {
  const contentLength = headers.get('content-length');
  return contentLength !== null && Number(contentLength) <= largeBytes;
}

/** True for a fault of the request itself or of its rate. Nothing of such a request is stored. */
function isRequestFault(error: unknown): boolean {
  if (!(error instanceof ParleyError) || error.session_id !== null) return false;
  return error.kind === 'input' || error.code === 'RATE_LIMITED';
}
