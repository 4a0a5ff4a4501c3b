// The examples on the page of the API: a server accepts each request for curl, and each response fits its schema.
import { expect, test } from 'vitest';
import { curlExample, responseExample } from '../../src/server/docs-examples.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { nonconformity } from './conformance.ts';
import { openServer } from './server-fixture.ts';

const operations = Object.entries(openApiDocument('1.2.3').paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

test('a server accepts each request, but for sessions that it does not have', async () => {
  const server = await openServer();
  removeAfterTest({ remove: () => server.close() });
  const refused: string[] = [];
  for (const { method, path: template, operation } of operations) {
    const example = curlExample(method, template, operation);
    const path = /"\$PARLEY_URL([^"]+)"/.exec(example)?.[1] ?? '';
    const body = /-d '(.*)'$/s.exec(example)?.[1];
    const response = await server.ask(method, path, body === undefined ? {} : { body: JSON.parse(body) });
    const { success, error } = (await response.json()) as { success: boolean; error?: { code: string } };
    if (!success && error?.code !== 'SESSION_NOT_FOUND') refused.push(`${method} ${path}: ${error?.code}`);
  }
  expect(operations.length).toBeGreaterThan(20);
  expect(refused).toEqual([]);
});

test('each response fits its schema', () => {
  const faults = operations.map(({ method, path, operation }) =>
    nonconformity(method, path, 200, JSON.parse(responseExample(operation))),
  );
  expect(faults.filter((fault) => fault !== null)).toEqual([]);
});
