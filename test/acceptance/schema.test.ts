// `chat --schema`: stdout is matching JSON or empty; the request to the model server, the repair of a reply, and refusals.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const ada = '{"name":"Ada","age":36}';

const place = new PlaceInProcess();
const file = join(place.path, 'person.json');
let model: ScriptedServer;
/** The replies of the model, one by one; the last one is repeated. */
let says: readonly string[] = [ada];
let requests = 0;

beforeAll(async () => {
  writeFileSync(file, JSON.stringify(schema, null, 2));
  model = await serve((_request, response) => {
    requests += 1;
    sendStream(response, replyOf(says[Math.min(requests, says.length) - 1] ?? ''));
  });
  await place.output([
    'modes',
    'add',
    'm',
    '--base-url',
    model.url,
    '--model',
    'm',
    '--system',
    'Be brief.',
    '--default',
  ]);
});
afterAll(async () => {
  await model.close();
  place.remove();
});
beforeEach(() => {
  says = [ada];
  requests = 0;
});

const chat = (...words: readonly string[]) => place.parley(['chat', '-n', '--schema', file, ...words]);
/** The requests of this test that the model server received. */
const sent = () => model.requests.slice(model.requests.length - requests).map(({ body }) => JSON.parse(body));

describe('a reply that matches', () => {
  test('is printed as JSON only, and its schema is sent to the model server', async () => {
    says = ['```json\n{ "name": "Ada",\n  "age": 36 }\n```'];
    expect(await chat('Who?')).toMatchObject({
      status: 0,
      out: `${ada}\n`,
      err: expect.not.stringContaining('match'),
    });
    expect(sent()).toEqual([
      expect.objectContaining({
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Who?' },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema } },
      }),
    ]);
  });

  test('is filtered by --jq; --json adds it to the body as value', async () => {
    expect((await chat('Who?', '--jq', '.name, .age + 1')).out).toBe('Ada\n37\n');
    const body = JSON.parse((await chat('Who?', '--json')).out);
    expect(body).toMatchObject({
      success: true,
      data: { reply: ada, message_count: 2 },
      value: { name: 'Ada', age: 36 },
    });
  });
});

describe('a reply that does not match', () => {
  test('is requested again in the same session, with the place and the reason', async () => {
    says = ['{"name":"Ada","age":"36"}', ada];
    await place.output(['chat', '-n', '-m', 'echo', 'Before']);
    const { status, out, err } = await chat('-m', 'm', '-c', 'Who?');
    expect({ status, out }).toEqual({ status: 0, out: `${ada}\n` });
    expect(err).toContain('does not match the schema at /age: must be integer. Asking again.');
    const { messages } = sent()[1];
    expect(messages).toHaveLength(6);
    expect(messages.at(-1).content).toContain('- at /age: must be integer');
    expect(messages.at(-1).content).toContain(JSON.stringify(schema));
  });

  test('is requested again in a regeneration, too, and all replies are kept as alternatives', async () => {
    says = ['Ada, 36.', '{"name":"Ada"}', ada];
    const { session_id } = await place.answer<{ session_id: string }>(['chat', '-n', '-m', 'm', 'Who?']);
    const { status, out, err } = await chat('-s', session_id, '--regenerate');
    expect({ status, out }).toEqual({ status: 0, out: `${ada}\n` });
    expect(err).toContain('does not match the schema as a whole: must have required property');
    expect(sent().map((body) => body.response_format?.json_schema.schema)).toEqual([
      undefined,
      schema,
      schema,
    ]);
    expect(sent()[1].messages.at(-1)).toEqual({ role: 'user', content: 'Who?' });
    const all = await place.output(['sessions', 'messages', session_id, '--all']);
    expect(all).toMatch(/, alternative\n\nAda, 36\.\n/);
    expect(all).toContain('{"name":"Ada"}\n');
    says = [ada];
    requests = 0;
    expect((await chat('-s', session_id, '--regenerate', '--repair', '0')).out).toBe(`${ada}\n`);
    expect(requests).toBe(1);
  });

  test('ends with status 8 if no reply matches, and all replies are kept', async () => {
    says = ['{"name":"Ada"}', 'I cannot.'];
    const outcome = await chat('Who?');
    expectFailure(outcome, { status: 8, code: 'SCHEMA_MISMATCH' });
    expect(requests).toBe(2);
    const [, id = ''] = /kept in session (ses_\w+)/.exec(outcome.err) ?? [];
    const { items } = await place.answer<{ items: readonly { content: string }[] }>([
      'sessions',
      'messages',
      id,
    ]);
    expect(items.map(({ content }) => content)).toEqual([
      'Who?',
      '{"name":"Ada"}',
      expect.stringContaining("as a whole: must have required property 'age'"),
      'I cannot.',
    ]);
  });

  test('is not requested again with --repair 0; the JSON contains the place', async () => {
    says = ['{"name":"Ada","age":-1}'];
    const error = expectJsonFailure(await chat('Who?', '--repair', '0', '--json'), {
      status: 8,
      code: 'SCHEMA_MISMATCH',
    });
    expect(error.details).toEqual([{ field: '/age', problem: 'must be >= 0' }]);
    expect(requests).toBe(1);
  });

  test('is an event of its own with --json-stream, and only a match has done', async () => {
    says = ['{}', ada];
    const events = (await chat('Who?', '--json-stream')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual([
      'session',
      'delta',
      'mismatch',
      'session',
      'delta',
      'done',
    ]);
    expect(events.at(-1)).toMatchObject({ value: { name: 'Ada', age: 36 } });
    says = ['{}'];
    requests = 0;
    const failed = await chat('Who?', '--json-stream', '--repair', '0', '--jq', '.event');
    expect({ status: failed.status, out: failed.out }).toEqual({ status: 8, out: 'session\ndelta\nerror\n' });
  });
});

test('a server that refuses schemas gets the schema in the message from then on', async () => {
  const picky = await serve((request, response, count) =>
    'response_format' in JSON.parse(request.body)
      ? sendJson(response, { error: { message: 'This response format is unavailable.' } }, 400)
      : sendStream(response, replyOf(count === 2 ? '{}' : ada)),
  );
  await place.output(['modes', 'add', 'picky', '--base-url', picky.url, '--model', 'm']);
  expect(await chat('-m', 'picky', 'Who?')).toMatchObject({ status: 0, out: `${ada}\n` });
  const bodies = picky.requests.map(({ body }) => JSON.parse(body));
  expect(bodies.map((body) => 'response_format' in body)).toEqual([true, false, false]);
  expect(bodies[1].messages[0]).toEqual({
    role: 'system',
    content: expect.stringContaining(JSON.stringify(schema)),
  });
  expect(bodies[1].messages[1]).toEqual({ role: 'user', content: 'Who?' });
  await picky.close();
});

test('a Parley server passes the schema on, and another one gets it in the message', async () => {
  const served = await servePlace(place);
  const key = (await place.output(['keys', 'create', '--project', 'default'])).trim();
  const env = { PARLEY_API_KEY: key };
  const words = ['chat', '-n', '-m', 'm', '--schema', file, 'Who?'];
  expect(await place.output([...words, '--url', served.url], { env })).toBe(`${ada}\n`);
  expect(sent()[0].response_format.json_schema.schema).toEqual(schema);
  expect(sent()[0].messages.at(-1).content).toBe('Who?');
  const again = ['chat', '-n', '-c', '--regenerate', '--schema', file];
  expect(await place.output([...again, '--url', served.url], { env })).toBe(`${ada}\n`);
  expect(sent()[1].response_format.json_schema.schema).toEqual(schema);
  await served.end('SIGTERM');

  const replies = ['Ada is 36.', ada];
  const stranger = await serve(({ path }, response) => {
    const reply = path === '/v1/chat' ? replies.shift() : undefined;
    sendJson(response, { success: true, data: reply === undefined ? ['m'] : { session_id: 's-1', reply } });
  });
  expect(await place.output([...words, '--url', stranger.url], { env })).toBe(`${ada}\n`);
  const messages = stranger.requests.flatMap(({ path, body }) =>
    path === '/v1/chat' ? [JSON.parse(body)] : [],
  );
  expect(messages).toEqual([
    { mode: 'm', message: expect.stringMatching(/^Who\?\n\nReply with one JSON value alone/) },
    { mode: 'm', session_id: 's-1', message: expect.stringMatching(/^Your last reply is not the JSON/) },
  ]);
  expect(messages[1].message.split(JSON.stringify(schema))).toHaveLength(2);
  await stranger.close();
});

test('each line of a batch has a matching value, or fails alone', async () => {
  const lines = [ada, '{"name":"Bo","age":7}', 'none'].map((message) => JSON.stringify({ message }));
  const words = ['chat', '--batch', '-m', 'echo', '--schema', file];
  const { status, out } = await place.parley(words, { stdin: `${lines.join('\n')}\n` });
  const results = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(results).toMatchObject([
    { id: 1, success: true, value: { name: 'Ada', age: 36 }, data: { reply: ada } },
    { id: 2, success: true, value: { name: 'Bo', age: 7 } },
    { id: 3, success: false, error: { code: 'SCHEMA_MISMATCH', session_id: expect.stringMatching(/^ses_/) } },
  ]);
  expect(status).toBe(3);
});

test('a line of a batch may have its own schema; if it cannot be checked, only that line is refused', async () => {
  const own = { type: 'object', properties: { name: { const: 'Bo' } }, required: ['name'] };
  const lines = [
    { message: 'Who?', schema: own },
    { message: 'Who?', schema: own },
    { message: 'Who?' },
    { message: 'plain', mode: 'echo', schema: null },
    { message: '1', mode: 'echo', schema: { propertys: {} } },
    { message: '[1, 2]', mode: 'echo', schema: { type: 'array', items: { type: 'string' } } },
  ];
  const stdin = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
  const bo = '{"name":"Bo"}';
  says = [ada, bo, bo, ada, ada];
  const output = join(place.path, 'lines.ndjson');
  const words = ['chat', '--batch', '-m', 'm', '--schema', file, '--concurrency', '1', '--resume', output];
  const outcome = await place.parley(words, { stdin });
  expect(outcome.status).toBe(3);
  const results = () =>
    readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const [first, second, third, plain, refused, mismatch] = results();
  // The first reply was requested again.
  expect(requests).toBe(4);
  expect(sent().map((body) => body.response_format.json_schema.schema)).toEqual([own, own, own, schema]);
  expect(first).toMatchObject({ success: true, value: { name: 'Bo' }, data: { message_count: 4 } });
  expect(second).toMatchObject({ success: true, value: { name: 'Bo' }, data: { message_count: 2 } });
  expect(third).toMatchObject({ success: true, value: { name: 'Ada', age: 36 } });
  expect(plain).toMatchObject({ success: true, data: { reply: 'plain' } });
  expect(plain).not.toHaveProperty('value');
  expect(refused.error).toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringMatching(/^Line 5: the schema cannot be used at \/propertys: is not a keyword/),
  });
  expect(refused.error).not.toHaveProperty('session_id');
  expect(mismatch.error).toMatchObject({
    code: 'SCHEMA_MISMATCH',
    details: expect.arrayContaining([{ field: '', problem: 'it is not JSON (line 1, column 1)' }]),
  });

  // A resumed batch sends only the lines that failed.
  const mended = stdin.replace('{"propertys":{}}', '{"type":"integer"}');
  const again = await place.parley(words, { stdin: mended });
  expect({ status: again.status, requests }).toEqual({ status: 3, requests: 4 });
  expect(results().find(({ id }) => id === 5)).toMatchObject({ success: true, value: 1 });
});

describe('before anything is sent', () => {
  test.each([
    ['a keyword that is none', '{"type":"object","propertys":{}}', '/propertys: is not a keyword'],
    [
      'a reference to the network',
      '{"$ref":"https://example.com/a.json"}',
      '/$ref: refers to another document',
    ],
    ['an unknown format', '{"format":"postcode"}', '/format: is not a supported format'],
    ['a text that is not JSON', 'type: object', 'it is not JSON (line 1, column 1)'],
  ])('%s is refused', async (_what, text, reason) => {
    const fresh = new PlaceInProcess();
    writeFileSync(join(fresh.path, 'bad.json'), text);
    const outcome = await fresh.parley(['chat', '-n', '--schema', 'bad.json', 'Who?']);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain(reason);
    expect(existsSync(fresh.dataDirectory)).toBe(false);
    fresh.remove();
  });

  test('a batch with a schema that cannot be used is refused', async () => {
    const fresh = new PlaceInProcess();
    writeFileSync(join(fresh.path, 'bad.json'), 'type: object');
    const batch = await fresh.parley(['chat', '--batch', '--schema', 'bad.json'], { stdin: 'Who?\n' });
    expectFailure(batch, { status: 2, code: 'USAGE' });
    expect(existsSync(fresh.dataDirectory)).toBe(false);
    fresh.remove();
  });

  test('options that cannot be combined are refused', async () => {
    const code = await chat('--extract-code', 'Who?');
    expect(code.err).toContain('--extract-code and --schema cannot be used together');
    const alone = await place.parley(['chat', '-n', '--repair', '2', 'Who?']);
    expect({ codes: [code.status, alone.status], requests }).toEqual({ codes: [2, 2], requests: 0 });
  });
});
