// The app without a socket: each operation, each failure, the order of the checks, and the conformity of every response.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Operation, routes } from '../../src/wire/routes.ts';
import { callWith } from '../support/calls.ts';
import { engineOf, finish } from '../support/embedded.ts';
import { checkedResponse } from './conformance.ts';
import { type AskInit, bodyOf, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
beforeEach(async () => {
  server = await openServer();
});
afterEach(() => server.close());

function ask(method: string, path: string, init?: AskInit) {
  return checkedResponse(server, method, path, init);
}

async function createSession(title?: string): Promise<string> {
  const { body } = await ask('POST', '/v1/sessions', { body: title === undefined ? {} : { title } });
  return body.data.session_id;
}

const pathOf = (name: Operation, id: string) => routes[name].path.replace(':id', id);

test.each(['application/json', 'text/event-stream'])(
  'a chat that is answered as %s releases its engine',
  async (accept) => {
    let isLetGo = false;
    const engines = engineOf(async function* () {
      try {
        yield { type: 'text', text: 'hi' };
        yield finish;
      } finally {
        isLetGo = true;
      }
    });
    const other = await openServer({ engines });
    try {
      const body = { mode: 'test', message: 'hello' };
      const response = await other.ask('POST', '/v1/chat', { headers: { accept }, body });
      expect(await response.text()).toContain('"reply":"hi"');
      await new Promise(setImmediate);
      expect(isLetGo).toBe(true);
    } finally {
      await other.close();
    }
  },
);

describe('operations', () => {
  test('verify shows what the key resolves to', async () => {
    const { status, body } = await ask('POST', '/v1/auth/verify');
    expect({ status, success: body.success }).toEqual({ status: 200, success: true });
    expect(body.data.project_name).toBe('first');
  });

  test('models lists the modes', async () => {
    const { body } = await ask('GET', '/v1/models');
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['eliza', 'echo']);
  });

  test('a session is created with status 200 and its four fields, with a title and without', async () => {
    const titled = await ask('POST', '/v1/sessions', { body: { title: 'Plans' } });
    expect(titled.status).toBe(200);
    expect(titled.body.data).toMatchObject({ title: 'Plans', message_count: 0 });
    expect((await ask('POST', '/v1/sessions')).body.data.title).toBeNull();
  });

  test('a chat returns JSON, and continues its session', async () => {
    const first = await ask('POST', '/v1/chat', { body: { mode: 'eliza', message: 'My name is Ada.' } });
    const { session_id } = first.body.data;
    const second = await ask('POST', '/v1/chat', {
      body: { mode: 'eliza', message: 'What is my name?', session_id },
    });
    expect(second.body.data).toMatchObject({ session_id, message_count: 4 });
    expect(second.body.data.reply).toContain('Ada');
  });

  test('a session is fetched, renamed, deleted, listed as deleted, and restored', async () => {
    const id = await createSession('old');
    expect((await ask('PATCH', `/v1/sessions/${id}`, { body: { title: 'new' } })).body.data.title).toBe(
      'new',
    );
    expect((await ask('PATCH', `/v1/sessions/${id}`, { body: { title: null } })).body.data.title).toBeNull();
    expect((await ask('GET', `/v1/sessions/${id}`)).body.data.session_id).toBe(id);
    expect((await ask('DELETE', `/v1/sessions/${id}`)).body.data.session_id).toBe(id);
    expect((await ask('GET', `/v1/sessions/${id}`)).body.error?.code).toBe('SESSION_NOT_FOUND');
    expect((await ask('GET', '/v1/sessions?deleted=true')).body.data.items[0].session_id).toBe(id);
    expect((await ask('POST', `/v1/sessions/${id}/restore`)).body.data.session_id).toBe(id);
    expect((await ask('GET', '/v1/sessions?deleted=false&limit=1')).body.data.items[0].session_id).toBe(id);
  });

  test('messages come in pages', async () => {
    const { body } = await ask('POST', '/v1/chat', { body: { mode: 'echo', message: 'hello' } });
    const path = `/v1/sessions/${body.data.session_id}/messages`;
    const first = await ask('GET', `${path}?limit=1`);
    expect(first.body.data.items[0].content).toBe('hello');
    const cursor = encodeURIComponent(first.body.data.next_cursor);
    const second = await ask('GET', `${path}?limit=1&cursor=${cursor}`);
    expect(second.body.data.items[0].role).toBe('assistant');
  });

  test('batches delete and restore in the order of the request', async () => {
    const id = await createSession();
    const body = { session_ids: ['ses_never', id] };
    expect((await ask('POST', '/v1/sessions/batch-delete', { body })).body.data.items).toEqual([
      { session_id: 'ses_never', status: 'not_found' },
      { session_id: id, status: 'deleted' },
    ]);
    const restored = await ask('POST', '/v1/sessions/batch-restore', { body });
    expect(restored.body.data.items[1]).toEqual({ session_id: id, status: 'restored' });
  });

  test('an id in the path is percent-decoded, including slashes', async () => {
    for (const id of ['a%2Fb', '%F0%9F%99%82', '%', '%ff', '%00', 'batch-delete', '%3F']) {
      const { status, body } = await ask('GET', `/v1/sessions/${id}`);
      expect([id, status, body.error?.code]).toEqual([id, 404, 'SESSION_NOT_FOUND']);
    }
  });

  test('a repeated Idempotency-Key has no further effect, and another request with it is a mismatch', async () => {
    const headers = { 'idempotency-key': 'k-1' };
    const once = await ask('POST', '/v1/sessions', { headers, body: { title: 'one' } });
    const twice = await ask('POST', '/v1/sessions', { headers, body: { title: 'one' } });
    expect(twice.body).toEqual(once.body);
    const other = await ask('POST', '/v1/sessions', { headers, body: { title: 'two' } });
    expect([other.status, other.body.error?.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
    const empty = await ask('POST', '/v1/sessions', { headers: { 'idempotency-key': '' } });
    expect(empty.status).toBe(400);
  });
});

describe('refusals', () => {
  test.each([
    ['no such mode', { mode: 'oracle', message: 'x' }, 400, 'UNKNOWN_MODE', 'mode'],
    ['a missing field', { mode: 'echo' }, 400, 'INVALID_REQUEST', 'message'],
    ['an empty message', { mode: 'echo', message: '' }, 400, 'INVALID_REQUEST', 'message'],
    ['a number for text', { mode: 'echo', message: 1 }, 400, 'INVALID_REQUEST', 'message'],
    [
      'null for an optional field',
      { mode: 'echo', message: 'x', session_id: null },
      400,
      'INVALID_REQUEST',
      'session_id',
    ],
    ['an unknown field', { mode: 'echo', message: 'x', stream: true }, 400, 'INVALID_REQUEST', 'stream'],
    ['a list for an object', [1], 400, 'INVALID_REQUEST', 'body'],
    ['text that is not JSON', '{"mode":', 400, 'INVALID_REQUEST', 'body'],
    [
      'a field named __proto__',
      '{"mode":"echo","message":"x","__proto__":{}}',
      400,
      'INVALID_REQUEST',
      '__proto__',
    ],
    [
      'a message over the limit',
      { mode: 'echo', message: 'x'.repeat(1024 * 1024 + 1) },
      413,
      'PAYLOAD_TOO_LARGE',
      'message',
    ],
    ['a body over the limit', `"${'x'.repeat(8 * 1024 * 1024)}"`, 413, 'PAYLOAD_TOO_LARGE', 'body'],
  ])('%s is refused by the name of the field', async (_fact, body, status, code, field) => {
    const answer = await ask('POST', '/v1/chat', { body });
    expect([answer.status, answer.body.error?.code, answer.body.error?.details?.[0]?.field]).toEqual([
      status,
      code,
      field,
    ]);
  });

  test('an invalid element of a list is named by its index', async () => {
    const { body } = await ask('POST', '/v1/sessions/batch-delete', { body: { session_ids: ['a', 7] } });
    expect(body.error?.details).toEqual([
      { field: 'session_ids[1]', problem: 'must be a string, not a number' },
    ]);
  });

  test.each([
    ['limit=abc', 'limit'],
    ['limit=', 'limit'],
    ['limit=0', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['deleted=yes', 'deleted'],
    ['updated_before=yesterday', 'updated_before'],
    ['cursor=bogus', 'cursor'],
    ['sort=nonsense', 'sort must be one of: updated, created'],
    ['order=up', 'order must be one of: desc, asc'],
    ['colour=red', 'colour'],
  ])('the query %s is refused by the name of the field', async (query, field) => {
    const { status, body } = await ask('GET', `/v1/sessions?${query}`);
    expect([status, body.error?.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(JSON.stringify(body.error)).toContain(field);
  });

  test('another media type, charset or encoding is refused', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-encoding': 'gzip' },
    ]) {
      const { status, body } = await ask('POST', '/v1/sessions', { headers, body: '{}' });
      expect([status, body.error?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
    const charset = { 'content-type': 'Application/JSON; charset=UTF-8' };
    expect((await ask('POST', '/v1/sessions', { headers: charset, body: '{}' })).status).toBe(200);
  });

  test('bytes that are not UTF-8 are refused', async () => {
    const request = new Request('http://server.test/v1/sessions', {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    const response = await server.app.fetch(request);
    expect([response.status, (await bodyOf(response)).error?.message]).toEqual([
      400,
      'The body is not valid UTF-8.',
    ]);
  });

  test('an unknown path is 404, and a path with other methods is 405 with Allow', async () => {
    for (const path of [
      '//',
      '/v1',
      '/v1/',
      '/v1/models/',
      '/v2/models',
      '/V1/models',
      '/v1/sessions//messages',
    ]) {
      expect([(await ask('GET', path)).status, path]).toEqual([404, path]);
    }
    const put = await ask('PUT', '/v1/sessions/x', { body: {} });
    expect([put.status, put.body.error?.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(put.headers.get('allow')).toBe('GET, HEAD, DELETE, PATCH');
    expect((await ask('POST', '/healthz')).headers.get('allow')).toBe('GET, HEAD');
    expect((await ask('PUT', '/v1/sessions/search', { body: {} })).headers.get('allow')).toBe(
      'GET, HEAD, DELETE, PATCH',
    );
  });

  test('absent, malformed, unknown and revoked keys get the same response, byte for byte', async () => {
    const created = await server.backend.administration.createKey({
      project_name: 'first',
      key_name: 'gone',
    });
    expect(
      (await ask('GET', '/v1/models', { headers: { authorization: `Bearer ${created.key}` } })).status,
    ).toBe(200);
    await server.backend.administration.revokeKey(created.key_id);
    const mistyped = `${server.key.slice(0, -1)}${server.key.endsWith('x') ? 'y' : 'x'}`;
    const values = [
      '',
      'Bearer',
      'Bearer ',
      'Basic eDp5',
      `Bearer ${mistyped}`,
      `Bearer ${created.key}`,
      server.key,
    ];
    const answers = new Set<string>();
    for (const authorization of values) {
      for (const name of Object.keys(routes) as Operation[]) {
        const response = await server.ask(routes[name].method, pathOf(name, 'ses_x'), {
          headers: { authorization },
        });
        answers.add(await withoutRequestId(response));
      }
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain('401');
  });

  test('unknown, deleted and foreign sessions get the same response, byte for byte', async () => {
    const deleted = await createSession();
    await ask('DELETE', `/v1/sessions/${deleted}`);
    const theirs = await server.backend.service.createSession(callWith(server.otherKey), { title: null });
    const answers = new Set<string>();
    for (const id of ['ses_never', deleted, theirs.data.session_id, 'x', '%F0%9F%99%82', 'x'.repeat(3000)]) {
      for (const name of ['getSession', 'deleteSession', 'listMessages'] as const) {
        answers.add(await withoutRequestId(await server.ask(routes[name].method, pathOf(name, id))));
      }
      const body = { mode: 'echo', message: 'x', session_id: decodeURIComponent(id) };
      answers.add(await withoutRequestId(await server.ask('POST', '/v1/chat', { body })));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain('SESSION_NOT_FOUND');
  });

  test('the key is checked first, and a body without a valid key is not read', async () => {
    const headers = { authorization: 'Bearer no-key' };
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new TextEncoder().encode('{'));
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request('http://server.test/v1/chat', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
    expect((await server.app.fetch(request)).status).toBe(401);
    expect(pulled).toBe(0);
    for (const [method, path] of [
      ['POST', '/v1/chat'],
      ['GET', '/v1/sessions?limit=x'],
      ['PUT', '/v1/models'],
      ['GET', '/v1/x'],
    ] as const) {
      expect(
        (await ask(method, path, { headers: { ...headers, 'content-type': 'text/plain' } })).status,
      ).toBe(401);
    }
  });

  test('the shape is checked before the session is looked up', async () => {
    const { status } = await ask('PATCH', '/v1/sessions/ses_never', { body: { name: 'x' } });
    expect(status).toBe(400);
  });
});

test('a key over its rate limit is told when to retry, and other keys are not affected', async () => {
  await server.close();
  server = await openServer({ serverLimits: { requestsPerSecond: 3 } });
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) statuses.push((await ask('GET', '/v1/models')).status);
  expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
  const last = await ask('POST', '/v1/sessions', { body: 'not read' });
  expect([last.status, last.body.error?.code, last.headers.get('retry-after')]).toEqual([
    429,
    'RATE_LIMITED',
    '1',
  ]);
  const headers = { authorization: `Bearer ${server.otherKey}` };
  expect((await ask('GET', '/v1/models', { headers })).status).toBe(200);
});

async function withoutRequestId(response: Response): Promise<string> {
  const id = response.headers.get('parley-request-id') ?? '';
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).sort();
  return `${response.status}\n${headers.join('\n')}\n\n${await response.text()}`.replaceAll(id, '');
}
