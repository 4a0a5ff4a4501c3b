// The requests for curl on the page of the API: a server accepts each of them.
import { expect, test } from 'vitest';
import { curlExample } from '../../src/server/docs-examples.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { openServer } from './server-fixture.ts';

const examples = Object.entries(openApiDocument('1.2.3').paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => curlExample(method.toUpperCase(), path, operation)),
);

test('a server accepts each request, but for sessions that it does not have', async () => {
  const server = await openServer();
  removeAfterTest({ remove: () => server.close() });
  const refused: string[] = [];
  for (const example of examples) {
    const [, method = 'GET', path = ''] = /^curl(?: -X (\w+))? "\$PARLEY_URL([^"]+)"/.exec(example) ?? [];
    const body = /-d '(.*)'$/s.exec(example)?.[1];
    const response = await server.ask(method, path, body === undefined ? {} : { body: JSON.parse(body) });
    const { success, error } = (await response.json()) as { success: boolean; error?: { code: string } };
    if (!success && error?.code !== 'SESSION_NOT_FOUND') refused.push(`${method} ${path}: ${error?.code}`);
  }
  expect(examples.length).toBeGreaterThan(20);
  expect(refused).toEqual([]);
});
