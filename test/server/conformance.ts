// Checks a response against the server's own OpenAPI document: its status must be one of the operation's, and its body must match the schema
// for it.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { openApiDocument } from '../../src/server/openapi.ts';
import { type AskInit, bodyOf, type ServerFixture } from './server-fixture.ts';

type Schema = Readonly<Record<string, unknown>>;

const document = openApiDocument('1.2.3');
const ajv = new Ajv2020({ strict: true, validateFormats: false });
ajv.addSchema({ $id: 'document', components: document.components }, 'document');
ajv.addVocabulary(['components']);
const validators = new Map<string, (body: unknown) => boolean>();

/** The fault of a response; null if it conforms. A response without an operation (404 or 405 of a path) must be a failure. */
export function nonconformity(method: string, path: string, status: number, body: unknown): string | null {
  const operation = operationAt(method, path);
  const failure = { $ref: 'document#/components/schemas/Failure' };
  const schema = operation === null ? failure : schemaOf(operation.responses[String(status)]);
  if (schema === null) return `${method} ${path}: ${status} is not documented`;
  const validate = validatorOf(schema);
  if (validate(body)) return null;
  return `${method} ${path}: ${status} ${JSON.stringify(body)} does not fit: ${ajv.errorsText(
    (validate as { errors?: [] }).errors ?? null,
  )}`;
}

function operationAt(method: string, path: string) {
  const target = path.split('?', 1)[0] ?? '';
  const places = Object.keys(document.paths).sort(
    (one, other) => Number(one.includes('{')) - Number(other.includes('{')),
  );
  for (const place of places) {
    if (!new RegExp(`^${place.replace('{id}', '[^/]+')}$`).test(target)) continue;
    const operation = document.paths[place]?.[method.toLowerCase()];
    if (operation !== undefined) return operation;
  }
  return null;
}

function schemaOf(response: Schema | undefined): Schema | null {
  const content = response?.['content'] as Readonly<Record<string, { schema: Schema }>> | undefined;
  return content?.['application/json']?.schema ?? null;
}

export function validatorOf(schema: Schema): (body: unknown) => boolean {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  let validate = validators.get(text);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(text));
    validators.set(text, validate);
  }
  return validate;
}

/** Sends a request, checks what holds for every response, and returns its status, headers and body. */
export async function checkedResponse(
  server: ServerFixture,
  method: string,
  path: string,
  init: AskInit = {},
) {
  const response = await server.ask(method, path, init);
  const body = await bodyOf(response);
  expect(nonconformity(method, path, response.status, body)).toBeNull();
  expect(response.headers.get('parley-request-id')).toMatch(/^req_/);
  if (path.startsWith('/v1')) {
    expect(response.headers.get('parley-extensions')).toBe(
      'archive, idempotency, stream, settings, lines, schema, order, sync, mode, users',
    );
  }
  if (!body.success) expect(body.request_id).toBe(response.headers.get('parley-request-id'));
  return { status: response.status, headers: response.headers, body };
}
