// A failing model server as scripts see it: the kind of the failure, the wait and the retry, and the mark on the turn; embedded and through
// `parley serve`.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let place: PlaceInProcess;
let model: ScriptedServer;
let script: Parameters<typeof serve>[0];
beforeEach(async () => {
  place = new PlaceInProcess();
  script = (_request, response) => sendStream(response, replyOf('Hello'));
  model = await serve((request, response, count) => script(request, response, count));
});
afterEach(async () => {
  await model.close();
  place.remove();
});

interface Items {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

const overload: typeof script = (_request, response) =>
  sendJson(response, { error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
const overloadOnce: typeof script = (request, response, count) =>
  count === 1 ? overload(request, response, count) : sendStream(response, replyOf('Hello'));
const add = (name: string, ...more: readonly string[]) =>
  place.output(['modes', 'add', name, '--base-url', model.url, '--model', 'm', ...more]);
const named = (problem: string) => [{ field: 'model_server', problem }];
const messagesOf = async (id: string) => (await place.answer<Items>(['sessions', 'messages', id])).items;
const sessionIds = async () => (await place.output(['sessions', 'list', '--ids'])).trim().split('\n');

describe('an overloaded model', () => {
  test('is reported by name, its turn is marked with the code, and the printed command repeats it', async () => {
    await add('fast', '--default');
    script = overload;
    const failed = await place.parley(['chat', '-n', '--json', 'Hi']);
    expect(failed.status).toBe(6);
    const { error } = JSON.parse(failed.out);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', details: named('overloaded') });
    expect(await messagesOf(error.session_id)).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', finish_reason: 'error', error_code: 'UNAVAILABLE' },
    ]);
    script = (_request, response) => sendStream(response, replyOf('Hello'));
    const command = /parley chat --idempotency-key .*$/m.exec(failed.err)?.[0] ?? '';
    expect((await place.shell(command)).status).toBe(0);
    const messages = await messagesOf(error.session_id);
    expect(messages.map(({ content }) => content)).toEqual(['Hi', 'Hello']);
    expect(messages[1]).not.toHaveProperty('error_code');
  });

  test('makes a batch wait and repeat, and nothing is stored twice', async () => {
    await add('fast', '--default');
    script = overloadOnce;
    const { status, out } = await place.parley(['chat', '--batch', '--concurrency', '1'], { stdin: 'Hi\n' });
    expect({ status, line: JSON.parse(out) }).toMatchObject({
      ...{ status: 0, line: { success: true, data: { reply: 'Hello', message_count: 2 } } },
    });
    expect(await sessionIds()).toHaveLength(1);
    expect(model.requests).toHaveLength(2);
  });

  test('is replaced by the fallback', async () => {
    await add('small');
    await add('large', '--fallback', 'small');
    script = overloadOnce;
    const { out, err } = await place.parley(['chat', '-n', '-m', 'large', 'Hi']);
    expect({ out, err }).toEqual({ out: 'Hello\n', err: expect.stringMatching(/small replied/) });
  });
});

test('the result of a failed line of a batch has the kind of the failure', async () => {
  await add('fast', '--default');
  script = (_request, response) =>
    sendJson(response, { message: 'Invalid model: m', type: 'invalid_model', code: '1500' }, 400);
  const { status, out } = await place.parley(['chat', '--batch'], { stdin: 'Hi\n' });
  expect(status).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'ENGINE_FAILED', details: named('unknown_model') },
  });
});

test('an export contains the code of a failure, and an import restores it', async () => {
  await add('fast', '--default');
  script = overload;
  await place.parley(['chat', '-n', 'Hi']);
  const [id = ''] = await sessionIds();
  const exported = await place.output(['sessions', 'export', id, '--format', 'json']);
  expect(JSON.parse(exported).messages[1]).toMatchObject({
    finish_reason: 'error',
    error_code: 'UNAVAILABLE',
  });
  const other = removeAfterTest(new PlaceInProcess());
  await other.parley(['sessions', 'import', '-'], { stdin: exported });
  expect(await other.output(['sessions', 'export', id, '--format', 'json'])).toBe(exported);
});

describe('through a server', () => {
  let served: ServedPlace;
  let env: Readonly<Record<string, string>>;
  beforeEach(async () => {
    await add('fast', '--default');
    served = await servePlace(place);
    const key = (await place.output(['keys', 'create', '--project', 'default'])).trim();
    env = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
  });
  afterEach(() => served.end('SIGTERM'));

  test('overload is 503 with a wait and the name of the failure', async () => {
    script = overload;
    const response = await fetch(`${served.url}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env['PARLEY_API_KEY']}`, 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'fast', message: 'Hi' }),
    });
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({
      ...{ success: false, error: { code: 'UNAVAILABLE', details: named('overloaded') } },
    });
  });

  test('a remote batch waits and repeats, and the command of a chat repeats the turn: nothing is stored twice', async () => {
    script = overloadOnce;
    const batch = await place.parley(['chat', '--batch', '-m', 'fast'], { env, stdin: 'Hi\n' });
    expect(JSON.parse(batch.out)).toMatchObject({
      success: true,
      data: { reply: 'Hello', message_count: 2 },
    });
    script = overload;
    const failed = await place.parley(['chat', '-n', '-m', 'fast', '--json', 'Ho'], { env });
    expect(failed.status).toBe(6);
    const { error } = JSON.parse(failed.out);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', details: named('overloaded') });
    const messages = await place.answer<Items>(['sessions', 'messages', error.session_id], { env });
    expect(messages.items[1]).toMatchObject({ finish_reason: 'error', error_code: 'UNAVAILABLE' });
    script = (_request, response) => sendStream(response, replyOf('Hello'));
    const command = /parley chat --idempotency-key .*$/m.exec(failed.err)?.[0] ?? '';
    expect((await place.shell(command, env)).status).toBe(0);
    const ids = await sessionIds();
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(await messagesOf(id)).toHaveLength(2);
  });
});
