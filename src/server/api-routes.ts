// The operations as routes. Checks go in the order that the API gives: the key first, then the shape of the request; whether the
// session is there is for the service to say.
import type { Call } from '../service/call.ts';
import { idempotencyHeader } from '../wire/headers.ts';
import { type Operation, routes } from '../wire/routes.ts';
import { answerChat, type ChatSurroundings } from './chat-handler.ts';
import { type AnsweredOperation, handlers, type OperationInput, type Served } from './handlers.ts';
import type { KeyGate, KeyUse } from './key-gate.ts';
import { operationShapes } from './operation-shapes.ts';
import { readBody } from './request-body.ts';
import { checkShape, queryReader } from './request-shape.ts';
import { jsonResponse } from './responses.ts';
import type { ServedRoute } from './routing.ts';
import type { Visit } from './visit.ts';

export interface ApiSurroundings {
  readonly served: Served;
  readonly gate: KeyGate;
  readonly chat: ChatSurroundings;
  readonly bodyBytes: number;
}

type Answer<Name extends Operation> = (
  visit: Visit,
  request: Request,
  input: OperationInput<Name>,
  use: KeyUse,
) => Promise<Response>;

export function apiRoutes(surroundings: ApiSurroundings): readonly ServedRoute[] {
  return (Object.keys(routes) as Operation[]).map((name) =>
    name === 'chat'
      ? route(surroundings, name, (visit, request, input, use) =>
          answerChat(surroundings.chat, visit, request, use, input),
        )
      : answeredRoute(surroundings, name),
  );
}

/** What accompanies an operation that comes as this request. */
export function callOf(visit: Visit, request: Request): Call {
  return new RequestCall(visit, request);
}

class RequestCall implements Call {
  readonly apiKey: string;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
  readonly pacesItself = false;
  readonly showReasoning = false;
  readonly #request: Request;

  constructor({ apiKey, method, requestId }: Visit, request: Request) {
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
  return route(surroundings, name, async (visit, _request, input) =>
    jsonResponse(visit, 200, (await handlers[name](served, input)).body),
  );
}

function route<Name extends Operation>(
  { gate, bodyBytes }: ApiSurroundings,
  name: Name,
  answer: Answer<Name>,
): ServedRoute {
  const { method, path } = routes[name];
  const shape = operationShapes[name];
  const readQuery = queryReader(shape.query);
  const hasBody = method === 'POST' || method === 'PATCH';
  // Most requests have neither; what that reads as is found once.
  const noQuery = shape.query.safeParse({}).success ? readQuery('') : null;
  const noBody = hasBody ? null : checkShape(shape.body, {});
  return {
    method,
    path,
    async serve(visit, request, id) {
      const call = callOf(visit, request);
      const use = await gate.admit(call, !hasBody && visit.query === '' && noQuery !== null);
      const query = (visit.query === '' ? noQuery : null) ?? readQuery(visit.query);
      const body = noBody ?? checkShape(shape.body, await readBody(request, bodyBytes));
      // The two schemas are those of the name, which the compiler loses sight of.
      return answer(visit, request, { call, id, query, body } as OperationInput<Name>, use);
    },
  };
}
