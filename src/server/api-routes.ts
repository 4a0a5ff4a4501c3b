// The operations as routes. Checks go in the order that the API gives: the key first, then the shape of the request; whether the
// session is there is for the service to say.
import type { Call } from '../service/call.ts';
import { idempotencyHeader } from '../wire/headers.ts';
import { type Operation, routes } from '../wire/routes.ts';
import { answerChat, type ChatSurroundings } from './chat-handler.ts';
import { type AnsweredOperation, handlers, type OperationInput, type Served } from './handlers.ts';
import type { JsonBounds } from './json-scan.ts';
import type { LargeRequests } from './large-requests.ts';
import { type OperationShape, operationShapes } from './operation-shapes.ts';
import type { RateLimit, RateLimiter } from './rate-limiter.ts';
import { readBody } from './request-body.ts';
import type { RequestContext } from './request-context.ts';
import { checkShape, queryReader } from './request-shape.ts';
import { jsonResponse } from './responses.ts';
import type { ServedRoute } from './routing.ts';

export interface ApiSurroundings {
  readonly served: Served;
  readonly gate: RateLimiter;
  readonly chat: ChatSurroundings;
  readonly large: LargeRequests;
  readonly bodyBytes: number;
}

type Answer<Name extends Operation> = (
  context: RequestContext,
  request: Request,
  input: OperationInput<Name>,
  use: RateLimit,
) => Promise<Response>;

export function apiRoutes(surroundings: ApiSurroundings): readonly ServedRoute[] {
  return (Object.keys(routes) as Operation[]).map((name) =>
    name === 'chat'
      ? route(surroundings, name, (context, request, input, use) =>
          answerChat(surroundings.chat, context, request, use, input),
        )
      : answeredRoute(surroundings, name),
  );
}

/** What accompanies an operation that comes as this request. */
export function callOf(context: RequestContext, request: Request): RequestCall {
  return new RequestCall(context, request);
}

class RequestCall implements Call {
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

  /** Made only where it is looked at: few operations last long enough to be stopped. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

function answeredRoute<Name extends AnsweredOperation>(
  surroundings: ApiSurroundings,
  name: Name,
): ServedRoute {
  const { served } = surroundings;
  return route(surroundings, name, async (context, _request, input) =>
    jsonResponse(context, 200, (await handlers[name](served, input)).body),
  );
}

function route<Name extends Operation>(
  { gate, large, bodyBytes }: ApiSurroundings,
  name: Name,
  answer: Answer<Name>,
): ServedRoute {
  const { method, path } = routes[name];
  const shape: OperationShape = operationShapes[name];
  const readQuery = queryReader(shape.query);
  const hasBody = method === 'POST' || method === 'PATCH';
  // Most requests have neither; what that reads as is found once.
  const noQuery = shape.query.safeParse({}).success ? readQuery('') : null;
  const noBody = hasBody ? null : checkShape(shape.body, {});
  const bodyLimits = { bytes: bodyBytes, json: jsonBounds(shape.items ?? {}) };
  return {
    method,
    path,
    async serve(context, request, id) {
      const call = callOf(context, request);
      const isPlain = !hasBody && context.query === '' && noQuery !== null;
      const { use, projectId } = await gate.admit(call, isPlain);
      call.projectId = projectId;
      const query = (context.query === '' ? noQuery : null) ?? readQuery(context.query);
      // The two schemas are those of the name, which the compiler loses sight of.
      const answered = (body: unknown) =>
        answer(context, request, { call: call as Call, id, query, body } as OperationInput<Name>, use);
      if (noBody !== null) return answered(noBody);
      const { value, place } = await readBody(request, context.apiKey, bodyLimits, large);
      try {
        const body = checkShape(shape.checkedBody ?? shape.body, value);
        // A turn may last: nobody waits for its end.
        if (name === 'chat') place?.leave();
        return await answered(body);
      } finally {
        place?.leave();
      }
    },
  };
}

/** The bodies of the API nest four deep. Beside its lists, none has a hundred values, and no item of a list more than twenty. */
function jsonBounds(items: Readonly<Record<string, number>>): JsonBounds {
  const listed = Object.values(items).reduce((sum, most) => sum + most, 0);
  return { depth: 8, values: 100 + 20 * listed, items };
}
