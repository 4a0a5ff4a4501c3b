// Requests generated from the schemas, valid and invalid in every field: none makes the server fail, and each response conforms to the OpenAPI
// document.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type OperationShape, operationShapes } from '../../src/server/operation-shapes.ts';
import { nothing } from '../../src/server/schemas.ts';
import { type Operation, routes } from '../../src/wire/routes.ts';
import { runs } from '../support/runs.ts';
import { nonconformity } from './conformance.ts';
import { eventsOf } from './event-reading.ts';
import { bodyOf, openServer, requestOf, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
const ids: string[] = [];
beforeAll(async () => {
  server = await openServer();
  for (let count = 0; count < 5; count++)
    ids.push((await bodyOf(await server.ask('POST', '/v1/sessions'))).data.session_id);
});
afterAll(() => server.close());

interface FuzzRequest {
  readonly name: Operation;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme', minLength: 150, maxLength: 250 }),
);
/** Mostly a value that the field accepts, otherwise any JSON. */
const often = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: fc.jsonValue() });

function idText(): fc.Arbitrary<string> {
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...ids) }, { weight: 2, arbitrary: anyText });
}

/** A value for a field, chosen by its name if only some values have a meaning, otherwise by its type. */
function fieldValue(name: string, type: unknown): fc.Arbitrary<unknown> {
  if (name === 'mode') return often(fc.oneof(fc.constantFrom('eliza', 'echo'), anyText));
  if (name === 'session_id') return often(idText());
  if (name === 'session_ids') return often(fc.array(often(idText()), { maxLength: 5 }));
  if (type === 'integer') return often(fc.integer({ min: -5, max: 300 }));
  if (type === 'boolean') return often(fc.boolean());
  return often(anyText);
}

function objectOf(schema: z.ZodObject): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  const fields = Object.entries(properties).map(([name, property]) => [
    name,
    fieldValue(name, typeof property === 'object' ? property.type : undefined),
  ]);
  return fc
    .tuple(
      fc.record(Object.fromEntries(fields), { requiredKeys: [] }),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.dictionary(anyText, fc.jsonValue(), { maxKeys: 2 }) },
      ),
    )
    .map(([known, unknown]) => ({ ...known, ...unknown }));
}

function queryText(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).map(
    ([name, value]) =>
      `${encoded(name)}=${encoded(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Halves of surrogate pairs cannot stand in a URL. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

function requestFor(name: Operation): fc.Arbitrary<FuzzRequest> {
  const { method, path } = routes[name];
  const { query = nothing, body = nothing }: OperationShape = operationShapes[name];
  const header = (values: readonly string[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 });
  return fc
    .record({
      id: idText(),
      query: objectOf(query),
      body: fc.oneof(
        { weight: 9, arbitrary: objectOf(body) },
        { weight: 1, arbitrary: fc.oneof(fc.jsonValue(), fc.string()) },
      ),
      method: fc.oneof(
        { weight: 30, arbitrary: fc.constant<string>(method) },
        { weight: 1, arbitrary: fc.constantFrom('PUT', 'OPTIONS', 'HEAD') },
      ),
      key: fc.oneof(
        { weight: 12, arbitrary: fc.constant('right') },
        { weight: 1, arbitrary: fc.constantFrom('other', 'wrong') },
      ),
      accept: header(['text/event-stream', 'application/json', '*/*', 'nonsense;;q=x']),
      type: header(['application/json', 'application/json; charset=utf-8', 'text/plain', '']),
      once: header(['k1', 'k2', 'a b', '', 'x'.repeat(256)]),
    })
    .map(({ id, query, body, method: verb, key, accept, type, once }) => ({
      name,
      method: verb,
      path: `${path.replace(':id', encoded(id))}${queryText(query)}`,
      key: key === 'right' ? server.key : key === 'other' ? server.otherKey : 'wrong',
      headers: {
        ...(accept !== undefined && { accept }),
        ...(type !== undefined && { 'content-type': type }),
        ...(once !== undefined && { 'idempotency-key': once }),
      },
      body: verb === 'GET' || verb === 'HEAD' ? undefined : body,
    }));
}

async function check({ method, path, key, headers, body }: FuzzRequest): Promise<number> {
  const request = requestOf(key, method, path, { headers, body });
  const response = await server.app.fetch(request);
  expect(response.status).toBeLessThan(500);
  expect(response.headers.get('parley-request-id')).toMatch(/^req_/);
  const text = await response.text();
  if (method === 'HEAD') return response.status;
  const { pathname } = new URL(request.url);
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const answer = isStream ? eventsOf(text).at(-1)?.body : JSON.parse(text);
  expect(nonconformity(method, pathname, response.status, answer)).toBeNull();
  return response.status;
}

test('no request generated from the schemas makes the server fail, and each response conforms', async () => {
  const names = Object.keys(routes) as Operation[];
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.oneof(...names.map(requestFor)), async (request) => {
      statuses.add(await check(request));
    }),
    { numRuns: runs(600, 20_000) },
  );
  // If all requests were refused for one reason, the test would show nothing.
  for (const status of [200, 400, 401, 404, 405, 415, 422]) expect(statuses).toContain(status);
}, 600_000);
