// Malformed and odd requests over a socket: whether this server or a library responds, the body has the form of the API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nonconformity } from './conformance.ts';
import { RawConnection, rawAnswer } from './raw-connection.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
let port = 0;
beforeAll(async () => {
  server = await openServer();
  port = (await server.listen()).port;
});
afterAll(() => server.close());

/** KEY stands for the key. The body is sent unchanged. */
const request = (line: string, headers: readonly string[] = [], body = '') =>
  `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
const auth = 'Authorization: Bearer KEY';
const host = 'Host: a';
const json = 'Content-Type: application/json';
const length = (body: string) => `Content-Length: ${Buffer.byteLength(body)}`;
const post = (path: string, body: string, ...headers: readonly string[]) =>
  request(`POST ${path} HTTP/1.1`, [host, auth, json, length(body), ...headers], body);
const get = (path: string, ...headers: readonly string[]) =>
  request(`GET ${path} HTTP/1.1`, [host, auth, ...headers]);

/** More headers than Node keeps by default. */
const short = Array.from({ length: 2500 }, () => 'a:');

const odd: readonly (readonly [fact: string, status: number, bytes: string])[] = [
  // Not HTTP, or another version of it.
  ['a word', 400, 'hello\r\n\r\n'],
  ['an unknown method', 400, request('FETCH /v1/models HTTP/1.1', [host])],
  ['a method in lower case', 400, request('get /v1/models HTTP/1.1', [host])],
  ['no path', 400, request('GET HTTP/1.1', [host])],
  ['HTTP/0.9', 401, request('GET /v1/models', [host])],
  ['version 3', 400, request('GET /v1/models HTTP/3.0', [host])],
  ['version 1.9', 400, request('GET /v1/models HTTP/1.9', [host])],
  ['version 2', 400, request('GET /v1/models HTTP/2.0', [host, auth])],
  ['the preface of HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS hello', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['NULs', 400, '\0\0\0\0\r\n\r\n'],
  ['JSON alone', 400, '{"mode":"echo"}\r\n\r\n'],
  ['a path with a space', 400, get('/v1/mod els')],
  ['a path with a control character', 400, get('/v1/mod\x01els')],
  ['a path with a backslash', 400, get('/v1\\models')],
  ['a relative path', 400, get('v1/models')],
  ['an asterisk', 400, request('OPTIONS * HTTP/1.1', [host, auth])],
  ['a proxy request for a broken address', 400, get('http://[::1/v1/models')],
  ['CONNECT', 405, request('CONNECT a:443 HTTP/1.1', [host])],
  // Hosts.
  ['no Host', 400, request('GET /v1/models HTTP/1.1', [auth])],
  ['an empty Host', 400, request('GET /v1/models HTTP/1.1', ['Host:', auth])],
  ['a Host with a space', 400, request('GET /v1/models HTTP/1.1', ['Host: a b', auth])],
  ['a Host with a path', 400, request('GET /v1/models HTTP/1.1', ['Host: a/b', auth])],
  ['two Hosts', 400, request('GET /v1/models HTTP/1.1', [host, 'host: b', auth])],
  ['two Hosts that are the same', 400, request('GET /v1/models HTTP/1.1', [host, host, auth])],
  ['no Host, to see whether it lives', 400, request('GET /healthz HTTP/1.1')],
  ['no Host in HTTP/1.0, as balancers ask', 200, request('GET /healthz HTTP/1.0')],
  ['no Host in HTTP/1.0, with a key', 200, request('GET /v1/models HTTP/1.0', [auth])],
  ['two Hosts in HTTP/1.0', 400, request('GET /healthz HTTP/1.0', [host, host])],
  // Headers.
  ['a header without a colon', 400, get('/v1/models', 'Nonsense')],
  ['a header name with a space', 400, get('/v1/models', 'Bad Name: x')],
  ['a header with a NUL', 400, get('/v1/models', 'X-Nul: a\0b')],
  ['a folded header', 400, get('/v1/models', 'X-Fold: a', ' b')],
  ['a bare carriage return in a header', 400, get('/v1/models', 'X-Cr: a\rb')],
  ['headers over 16 KiB', 431, get('/v1/models', `X-Long: ${'x'.repeat(20_000)}`)],
  [
    'very many headers',
    431,
    get('/v1/models', ...Array.from({ length: 2000 }, (_, index) => `X-${index}: ${index}`)),
  ],
  [
    'very many short headers, the key after them',
    200,
    request('GET /v1/models HTTP/1.1', [host, ...short, auth]),
  ],
  ['a second Host after very many short headers', 400, get('/v1/models', ...short, 'Host: b')],
  ['a path over 16 KiB', 414, get(`/v1/sessions/${'x'.repeat(20_000)}`)],
  ['a sort that there is none of', 400, get('/v1/sessions?sort=nonsense')],
  ['an order that there is none of', 400, get('/v1/sessions?order=')],
  ['a query over 16 KiB', 414, get(`/v1/sessions?cursor=${'x'.repeat(20_000)}`)],
  // Lengths and encodings.
  [
    'two lengths that differ',
    400,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Content-Length: 2', 'Content-Length: 3'], '{}'),
  ],
  [
    'a length that is no number',
    400,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Content-Length: two'], '{}'),
  ],
  [
    'a negative length',
    400,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Content-Length: -2'], '{}'),
  ],
  [
    'a length and chunks at once',
    400,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Content-Length: 2', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
  ],
  [
    'an unknown transfer encoding',
    400,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Transfer-Encoding: zip'], '{}'),
  ],
  ...['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'x,chunked'].map(
    (coding) =>
      [
        `a body in ${coding}`,
        400,
        request(
          'POST /v1/sessions HTTP/1.1',
          [host, auth, json, `Transfer-Encoding: ${coding}`],
          '2\r\n{}\r\n0\r\n\r\n',
        ),
      ] as const,
  ),
  [
    'two transfer encodings in two lines',
    400,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'],
      '2\r\n{}\r\n0\r\n\r\n',
    ),
  ],
  [
    'chunks in HTTP/1.0',
    400,
    request(
      'POST /v1/sessions HTTP/1.0',
      [host, auth, json, 'Transfer-Encoding: chunked'],
      '2\r\n{}\r\n0\r\n\r\n',
    ),
  ],
  [
    'a body in CHUNKED',
    200,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Transfer-Encoding: CHUNKED'],
      '2\r\n{}\r\n0\r\n\r\n',
    ),
  ],
  [
    'a chunk whose size is no number',
    400,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Transfer-Encoding: chunked'],
      'zz\r\n{}\r\n0\r\n\r\n',
    ),
  ],
  [
    'a chunk longer than it says',
    400,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Transfer-Encoding: chunked'],
      '1\r\n{}\r\n0\r\n\r\n',
    ),
  ],
  [
    'a body announced over 8 MiB',
    413,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Content-Length: 8388609']),
  ],
  [
    'a body announced beyond all numbers',
    413,
    request('POST /v1/sessions HTTP/1.1', [host, auth, json, 'Content-Length: 99999999999']),
  ],
  [
    'a body in chunks',
    200,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, json, 'Transfer-Encoding: chunked'],
      '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
    ),
  ],
  ['gzip', 415, post('/v1/sessions', '{}', 'Content-Encoding: gzip')],
  ['a body without a type', 415, request('POST /v1/sessions HTTP/1.1', [host, auth, length('{}')], '{}')],
  [
    'a form',
    415,
    request(
      'POST /v1/sessions HTTP/1.1',
      [host, auth, 'Content-Type: application/x-www-form-urlencoded', length('title=x')],
      'title=x',
    ),
  ],
  // Bodies.
  ['an absent body', 200, request('POST /v1/sessions HTTP/1.1', [host, auth])],
  [
    'an empty body of another type',
    200,
    request('POST /v1/sessions HTTP/1.1', [host, auth, 'Content-Type: text/plain', 'Content-Length: 0']),
  ],
  ['a body cut in a string', 400, post('/v1/sessions', '{"title":"x')],
  ['two values', 400, post('/v1/sessions', '{}{}')],
  ['single quotes', 400, post('/v1/sessions', "{'title':'x'}")],
  ['a comma too many', 400, post('/v1/sessions', '{"title":"x",}')],
  ['a bare word', 400, post('/v1/sessions', 'title')],
  ['null', 400, post('/v1/sessions', 'null')],
  ['a string', 400, post('/v1/sessions', '"x"')],
  ['a list', 400, post('/v1/sessions', '[]')],
  ['white space alone', 400, post('/v1/sessions', ' \n')],
  ['a thousand brackets', 400, post('/v1/sessions', '['.repeat(1000))],
  ['a million brackets', 400, post('/v1/sessions', '['.repeat(1_000_000) + ']'.repeat(1_000_000))],
  ['a NUL in a title', 400, post('/v1/sessions', '{"title":"a\\u0000b"}')],
  ['half of a surrogate pair in a title', 400, post('/v1/sessions', '{"title":"a\\ud800b"}')],
  ['half of a surrogate pair as a field', 400, post('/v1/sessions', '{"\\ud800":1}')],
  ['a field of the prototype', 400, post('/v1/sessions', '{"constructor":{"prototype":{}}}')],
  ['the same field twice', 200, post('/v1/sessions', '{"title":"a","title":"b"}')],
  ['a byte order mark', 200, post('/v1/sessions', '\ufeff{}')],
  ['a number with a very large exponent', 400, post('/v1/sessions', '{"title":1e999}')],
  // Paths and methods.
  ['a trailing slash', 404, get('/v1/models/')],
  ['two slashes', 404, get('//v1/models')],
  ['steps upwards', 404, get('/v1/../../etc/passwd')],
  ['steps upwards in disguise', 404, get('/v1/sessions/%2e%2e/%2e%2e/models')],
  ['steps upwards to a path that exists', 404, get('/v1/sessions/%2e%2e/models')],
  ['steps upwards half in disguise', 404, get('/v1/sessions/.%2E/models')],
  ['a step to the same place', 404, get('/v1/%2e/models')],
  ['steps upwards in a proxy request', 404, get('http://a/v1/sessions/../models')],
  ['two dots as session id', 404, get('/v1/sessions/..')],
  ['two dots in a query', 200, get('/v1/sessions?title_match=/../')],
  ['three dots as session id', 404, get('/v1/sessions/...')],
  ['an empty session id', 404, get('/v1/sessions/')],
  ['a NUL as session id', 404, get('/v1/sessions/%00')],
  ['a percent sign that stands for nothing', 404, get('/v1/sessions/%zz')],
  ['bytes that are not UTF-8 as session id', 404, get('/v1/sessions/%ff%fe')],
  ['a proxy request', 200, get('http://elsewhere.test/v1/models')],
  ['TRACE', 405, request('TRACE /v1/models HTTP/1.1', [host, auth])],
  ['OPTIONS', 405, request('OPTIONS /v1/chat HTTP/1.1', [host, auth])],
  ['PROPFIND', 405, request('PROPFIND /v1/models HTTP/1.1', [host, auth])],
  ['DELETE of all sessions', 405, request('DELETE /v1/sessions HTTP/1.1', [host, auth])],
  [
    'DELETE with a body',
    404,
    request('DELETE /v1/sessions/x HTTP/1.1', [host, auth, json, length('{"a":1}')], '{"a":1}'),
  ],
  [
    'GET with a body',
    200,
    request('GET /v1/models HTTP/1.1', [host, auth, json, length('{"a":1}')], '{"a":1}'),
  ],
  ['a wish to upgrade', 200, get('/v1/models', 'Connection: Upgrade', 'Upgrade: websocket')],
  ['an expectation', 200, get('/v1/models', 'Expect: the-unexpected')],
  ['HTTP/1.0', 200, request('GET /v1/models HTTP/1.0', [host, auth])],
  // Keys.
  ['no key', 401, request('GET /v1/models HTTP/1.1', [host])],
  ['two keys', 401, get('/v1/models').replace(auth, `Authorization: Bearer x\r\n${auth}`)],
  ['Basic', 401, request('GET /v1/models HTTP/1.1', [host, 'Authorization: Basic eDp5'])],
  [
    'a key with bytes over 127',
    401,
    request('GET /v1/models HTTP/1.1', [host, 'Authorization: Bearer k\xe9y']),
  ],
  [
    'a key of 10,000 characters',
    401,
    request('GET /v1/models HTTP/1.1', [host, `Authorization: Bearer ${'k'.repeat(10_000)}`]),
  ],
  ['bearer in lower case', 200, request('GET /v1/models HTTP/1.1', [host, 'authorization: bearer KEY'])],
  ['an idempotency key with a space', 400, post('/v1/sessions', '{}', 'Idempotency-Key: a b')],
  ['two idempotency keys', 400, post('/v1/sessions', '{}', 'Idempotency-Key: a', 'Idempotency-Key: b')],
];

describe('the response to an odd request is JSON with a boolean success and a request id', () => {
  test.each(odd)('%s: %i', async (_fact, status, bytes) => {
    const answer = await rawAnswer(port, Buffer.from(bytes.replace('KEY', server.key), bytesOf(bytes)));
    expect(answer?.status).toBe(status);
    expect(answer?.headers['content-type']).toBe('application/json');
    expect(answer?.headers['parley-request-id']).toMatch(/^req_/);
    const body = JSON.parse(answer?.body ?? '');
    expect(body.success).toBe(status === 200);
    const [method = '', path = ''] = bytes.split(' ', 2);
    expect(nonconformity(method, path.replace(/^http:\/\/[^/]+/, ''), status, body)).toBeNull();
    if (status !== 200) expect(body.request_id).toBe(answer?.headers['parley-request-id']);
  });
});

test('after all of them, the server responds as before', async () => {
  const answer = await rawAnswer(port, get('/v1/models').replace('KEY', server.key));
  expect(answer?.status).toBe(200);
  expect(server.log().filter(({ level }) => level === 'error')).toEqual([]);
});

test('a fault after a complete request does not corrupt its response', async () => {
  const connection = await RawConnection.open(port);
  await connection.send(`${get('/v1/models').replace('KEY', server.key)}nonsense\r\n\r\n`);
  expect((await connection.answer())?.status).toBe(200);
  expect((await connection.answer())?.status).toBe(400);
  await connection.closed();
  expect(connection.received).toBe('');
});

describe('a client that waits for 100 Continue', () => {
  const waits = (...headers: readonly string[]) =>
    request('POST /v1/sessions HTTP/1.1', [host, json, 'Expect: 100-continue', ...headers]);

  test.each([
    ['without a key', 401, waits('Content-Length: 100')],
    ['with a body that is too long', 413, waits(auth, 'Content-Length: 99999999')],
  ])('%s is refused before it sends its body', async (_fact, status, bytes) => {
    const connection = await RawConnection.open(port);
    await connection.send(bytes.replace('KEY', server.key));
    await connection.closed();
    expect(connection.received.split(' ', 2)).toEqual(['HTTP/1.1', `${status}`]);
  });

  test('is told to send a body that is read', async () => {
    const connection = await RawConnection.open(port);
    await connection.send(waits(auth, 'Content-Length: 2').replace('KEY', server.key));
    await expect.poll(() => connection.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    await connection.send('{}');
    await expect.poll(() => connection.received).toContain('\r\n\r\nHTTP/1.1 200 OK');
    connection.destroy();
  });
});

test('pipelined requests are answered in order', async () => {
  const connection = await RawConnection.open(port);
  const first = post('/v1/sessions', '{"title":"first"}').replace('KEY', server.key);
  const second = get('/healthz');
  await connection.send(first + second);
  expect((await connection.answer())?.body).toContain('first');
  expect((await connection.answer())?.body).toContain('ok');
  connection.destroy();
});

const healthz = request('GET /healthz HTTP/1.1', [host]);

test('pipelined requests do not delay those of another connection', async () => {
  const [many, other] = [await RawConnection.open(port), await RawConnection.open(port)];
  const before = server.log().length;
  await many.send(healthz.repeat(1500));
  await other.send(request('GET /docs HTTP/1.1', [host]));
  expect((await other.answer())?.status).toBe(200);
  for (let count = 0; count < 1500; count++) expect((await many.answer())?.status).toBe(200);
  const paths = server.log().slice(before);
  expect(paths).toHaveLength(1501);
  expect(paths.findIndex(({ path }) => path === '/docs')).toBeLessThan(1000);
  many.destroy();
  other.destroy();
});

test('waiting requests of a closed connection are not served', async () => {
  const connection = await RawConnection.open(port);
  const before = server.log().length;
  await connection.send(healthz.repeat(1500));
  await connection.answer();
  connection.destroy();
  expect((await rawAnswer(port, healthz))?.status).toBe(200);
  expect(server.log().length - before).toBeLessThan(1500);
});

test('a request may arrive byte by byte', async () => {
  const bytes = post('/v1/sessions', '{"title":"é"}').replace('KEY', server.key);
  const answer = await rawAnswer(port, ...[...Buffer.from(bytes)].map((byte) => Buffer.from([byte])));
  expect(JSON.parse(answer?.body ?? '').data.title).toBe('é');
});

/** The encoding of a row of the table: a row with a byte order mark is UTF-8, any other has one byte per character. */
function bytesOf(text: string): 'latin1' | 'utf8' {
  return text.includes('\ufeff') ? 'utf8' : 'latin1';
}
