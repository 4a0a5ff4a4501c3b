// The OpenAPI 3.1 document. It is generated from the schemas that check the requests and from wire's routes, so it agrees with the server.
import { z } from 'zod';
import { type ErrorCode, serviceErrorCodes } from '../service/errors.ts';
import { errorStatus } from '../wire/error-status.ts';
import {
  eventStreamType,
  exportPurpose,
  extensionsHeader,
  idempotencyHeader,
  purposeHeader,
  requestIdHeader,
} from '../wire/headers.ts';
import { isStreamed, type Operation, routes } from '../wire/routes.ts';
import { type OperationShape, operationShapes } from './operation-shapes.ts';
import { nothing } from './schemas.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface OpenApiBody extends Json {
  /** The schema of each media type. */
  readonly content: Readonly<Record<string, { readonly schema: Json }>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Json & { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Json & { readonly schemas: Readonly<Record<string, Json>> };
  readonly security: readonly Json[];
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly Json[];
  readonly parameters: readonly Json[];
  readonly requestBody?: OpenApiBody;
  readonly responses: Readonly<Record<string, OpenApiBody>>;
}

/** The codes that every operation may fail with. The lists after it hold the codes of some operations. */
const commonCodes: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'INVALID_API_KEY',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
];
const bodyCodes: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const writeCodes: readonly ErrorCode[] = ['STORAGE_FULL'];
const turnCodes: readonly ErrorCode[] = ['SESSION_NOT_FOUND', 'SESSION_BUSY'];
const replyCodes: readonly ErrorCode[] = [
  ...turnCodes,
  'UNKNOWN_MODE',
  'BUDGET_EXCEEDED',
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
];

const budgetLeft = z.number().int().nullable();

const failure = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({
    code: z.enum(serviceErrorCodes),
    message: z.string().describe('what failed, and what to do next'),
    details: z
      .union([
        z.array(z.strictObject({ field: z.string(), problem: z.string() })),
        z.strictObject({ remaining: z.strictObject({ turns: budgetLeft, tokens: budgetLeft }) }),
      ])
      .optional()
      .describe('each fault of the request; for a key that has used up its budget, what remains of it today'),
    session_id: z
      .string()
      .optional()
      .describe('the session of a chat that failed after its message was stored'),
    message_id: z.string().optional(),
  }),
  request_id: z.string().describe('identifies the request in the log of the server'),
});

export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const name of Object.keys(routes) as Operation[]) {
    const { method, path } = routes[name];
    const place = path.replace(':id', '{id}');
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation(name) };
  }
  for (const [path, summary] of openPaths) paths[path] = { get: openOperation(path, summary) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley, a conversation service',
      version,
      description:
        'Chat messages and their replies, stored as sessions. Every response body has a top-level boolean `success`. ' +
        `The header ${extensionsHeader} of every response under /v1 lists the extensions of this server to the basic API. ` +
        `The header ${requestIdHeader} identifies the request in the server’s log.`,
    },
    paths,
    components: {
      schemas: { Failure: schemaOf(failure, 'output') },
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ key: [] }],
  };
}

const openPaths = [
  ['/healthz', 'Is the server running?'],
  ['/readyz', 'Can the server write to its store?'],
] as const;

function operation(name: Operation): OpenApiOperation {
  const { extension } = routes[name];
  const shape: OperationShape = operationShapes[name];
  return {
    operationId: name,
    summary: shape.summary,
    description: extension === null ? '' : `An extension: \`${extension}\`.`,
    tags: [extension ?? 'conversation'],
    parameters: parametersOf(name, shape),
    ...(shape.body !== undefined && { requestBody: requestBodyOf(shape.body) }),
    responses: {
      200: {
        description: 'Done',
        content: {
          'application/json': { schema: envelope(schemaOf(shape.data, 'output')) },
          ...(isStreamed(name) && { [eventStreamType]: { schema: { type: 'string', description: events } } }),
        },
      },
      ...failuresOf(name),
    },
  };
}

const events =
  'Requested with `Accept: text/event-stream`. `session` when the message is stored, `delta` {text} as the reply arrives, `thinking` {} when ' +
  'the model starts reasoning that is not shown, then exactly ' +
  'one of `done` (the whole JSON response) and `error` (an error body). Each `data` is JSON with `success`.';

function parametersOf(name: Operation, shape: OperationShape): readonly Json[] {
  const { path, method } = routes[name];
  const { properties = {}, required = [] } = schemaOf(shape.query ?? nothing, 'input') as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  const inQuery = Object.entries(properties).map(([field, { description, ...schema }]) => ({
    name: field,
    in: 'query',
    required: required.includes(field),
    description,
    schema,
  }));
  return [
    ...(path.includes(':id') ? [idParameter] : []),
    ...inQuery,
    ...(name === 'listMessages' ? [purposeParameter] : []),
    ...(method === 'POST' ? [idempotencyParameter] : []),
  ];
}

const idParameter: Json = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'a session_id',
};
const purposeParameter: Json = {
  name: purposeHeader,
  in: 'header',
  required: false,
  description: 'Marks a read as part of an export, which the audit log then records.',
  schema: { type: 'string', enum: [exportPurpose] },
};
const idempotencyParameter: Json = {
  name: idempotencyHeader,
  in: 'header',
  required: false,
  description: 'A repeated request with the same key has no further effect. Keys are stored for 24 hours.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

function requestBodyOf(body: z.ZodObject): OpenApiBody {
  const schema = schemaOf(body, 'input');
  return { required: 'required' in schema, content: { 'application/json': { schema } } };
}

/** One response per status, with its possible codes. */
function failuresOf(name: Operation): OpenApiOperation['responses'] {
  const { method, path } = routes[name];
  const codes: ErrorCode[] = [...commonCodes];
  if (path.includes(':id')) codes.push('SESSION_NOT_FOUND');
  if (method === 'POST' || method === 'PATCH') codes.push(...bodyCodes);
  if (method !== 'GET') codes.push(...writeCodes);
  if (method === 'POST') codes.push('IDEMPOTENCY_MISMATCH');
  if (isStreamed(name)) codes.push(...replyCodes);
  if (name === 'undoTurn' || name === 'redoTurn') codes.push(...turnCodes);
  const distinct = [...new Set(codes)];
  const statuses = new Set(distinct.map((code) => errorStatus(code)));
  const responses = Object.fromEntries(
    [...statuses].map((status) => {
      const codesOfStatus = distinct.filter((code) => errorStatus(code) === status);
      return [status, documentedFailure(codesOfStatus.map((code) => `\`${code}\``).join(', '))];
    }),
  );
  return { ...responses, ...refusals };
}

/** The responses to a request that was never read completely (request-refusal.ts). */
const refusals: OpenApiOperation['responses'] = {
  408: documentedFailure('`INVALID_REQUEST`: the request did not arrive in time'),
  414: documentedFailure('`PAYLOAD_TOO_LARGE`: the request line is too long'),
  431: documentedFailure('`PAYLOAD_TOO_LARGE`: the headers are too long'),
};

function documentedFailure(description: string): OpenApiBody {
  return {
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
  };
}

function openOperation(path: string, summary: string): OpenApiOperation {
  const data = { type: 'object', properties: { status: { type: 'string' } }, required: ['status'] };
  return {
    operationId: path.slice(1),
    summary,
    description: '',
    tags: ['server'],
    security: [],
    parameters: [],
    responses: {
      200: { description: 'Yes', content: { 'application/json': { schema: envelope(data) } } },
      400: documentedFailure('`INVALID_REQUEST`: the request is not valid HTTP'),
      503: documentedFailure('`UNAVAILABLE`'),
    },
  };
}

function envelope(data: Json): Json {
  return {
    type: 'object',
    properties: { success: { const: true }, data },
    required: ['success', 'data'],
    additionalProperties: false,
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  // The OpenAPI document names the dialect of its schemas itself.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
