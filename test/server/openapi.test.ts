// The OpenAPI document: it describes all routes, every reference resolves, and every schema is valid; and its page.
import { expect, test } from 'vitest';
import { docsPage } from '../../src/server/docs-page.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { serviceErrorCodes } from '../../src/service/errors.ts';
import { type Operation, routes } from '../../src/wire/routes.ts';
import { validatorOf } from './conformance.ts';

const document = openApiDocument('1.2.3');

/** Every object anywhere in a value. */
function* objectsIn(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Readonly<Record<string, unknown>>;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

test('the document is valid OpenAPI 3.1', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: expect.any(String), version: '1.2.3' });
  for (const [path, methods] of Object.entries(document.paths)) {
    expect(path).toMatch(/^\//);
    for (const [method, operation] of Object.entries(methods)) {
      expect(['get', 'post', 'patch', 'delete']).toContain(method);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5]\d\d$/);
        expect(response['description']).not.toBe('');
      }
      const inPath = operation.parameters.filter((parameter) => parameter['in'] === 'path');
      expect(inPath.map((parameter) => `{${parameter['name']}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(inPath.every((parameter) => parameter['required'] === true)).toBe(true);
    }
  }
});

test('every route is in it once, under its method and with a unique id', () => {
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
  for (const name of Object.keys(routes) as Operation[]) {
    const { method, path } = routes[name];
    const operation = document.paths[path.replace(':id', '{id}')]?.[method.toLowerCase()];
    expect(operation?.operationId).toBe(name);
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '429', '500', '503']),
    );
  }
});

test('every reference resolves, and every schema is valid', () => {
  let references = 0;
  for (const value of objectsIn(document)) {
    if (typeof value['$ref'] === 'string') {
      references += 1;
      const name = value['$ref'].replace('#/components/schemas/', '');
      expect(document.components.schemas[name]).toBeDefined();
    }
    const { schema } = value;
    if (typeof schema === 'object')
      expect(validatorOf(schema as Readonly<Record<string, unknown>>)).toBeTypeOf('function');
  }
  expect(references).toBeGreaterThan(50);
});

test('the request of a chat is the one of the interface document', () => {
  const body = document.paths['/v1/chat']?.['post']?.requestBody as {
    content: Record<string, { schema: object }>;
  };
  expect(body.content['application/json']?.schema).toMatchObject({
    required: ['mode', 'message'],
    properties: {
      mode: { type: ['string', 'null'] },
      message: { type: 'string' },
      session_id: { type: 'string' },
    },
    additionalProperties: false,
  });
});

test('the page names every operation, loads nothing, and runs nothing', () => {
  const page = docsPage(document);
  for (const path of Object.keys(document.paths)) expect(page).toContain(path);
  expect(page).not.toMatch(/<script|<img|<link|@import|url\(|https?:/);
});

test('texts in the document are text on the page, not markup', () => {
  const hostile = { ...document, info: { ...document.info, title: '<b onclick="x">&' } };
  expect(docsPage(hostile)).toContain('&lt;b onclick=&quot;x&quot;&gt;&amp;');
});

test('the page shows a curl request and its response for each operation, and each error once', () => {
  const page = docsPage(document);
  const sections = page.split('<section ').slice(1, -1);
  expect(sections).toHaveLength(
    Object.values(document.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0),
  );
  for (const section of sections) {
    const [curl = '', answer = ''] = [...section.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text]) =>
      plainText(text ?? ''),
    );
    expect(curl).toMatch(/^curl (-X \w+ )?"\$PARLEY_URL\/\S+"/);
    expect(JSON.parse(answer)).toMatchObject({ success: true });
    const body = /-d '(.*)'$/s.exec(curl)?.[1];
    if (body !== undefined) expect(JSON.parse(body)).toBeTypeOf('object');
  }
  expect(page.match(/the headers are too long/g)).toHaveLength(1);
  // The pattern of a time would take most of the page.
  expect(page).not.toContain('\\d{4}-');
});

function plainText(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}

test('the page names each code of a server', () => {
  const [, errors = ''] = docsPage(document).split('<section id="errors">');
  expect(serviceErrorCodes.filter((code) => !errors.includes(`<code>${code}</code>`))).toEqual([]);
});

test('the page orders the errors by their status', () => {
  const [, errors = ''] = docsPage(document).split('<section id="errors">');
  const statuses = [...errors.matchAll(/<code>(\d{3})<\/code>/g)].map(([, status]) => Number(status));
  expect(statuses.length).toBeGreaterThan(10);
  expect(statuses).toEqual(statuses.toSorted((a, b) => a - b));
});
