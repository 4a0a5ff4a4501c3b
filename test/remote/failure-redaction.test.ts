// If a server repeats the key in an error, the key is neither shown nor logged.
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { toJson } from '../../src/cli/terminal/json.ts';
import { callWith, failureOf, say } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type Script, sendJson, serve } from '../support/scripted-server.ts';

const key = 'a-key-of-some-server';
const error = { code: 'ODD', message: `Your key ${key} is wrong`, details: [{ field: 'a', problem: key }] };

const escaped = [...key].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('');
const send = (response: ServerResponse, json: string, status = 200, type = 'application/json') =>
  response.writeHead(status, { 'Content-Type': type }).end(json.replaceAll(key, escaped));

const scripts: Readonly<Record<string, Script>> = {
  'a refused key': (_request, response) => sendJson(response, { success: false, error }, 401),
  'a failure': (_request, response) => sendJson(response, { success: false, error }, 400),
  'a failure with status 200': (_request, response) => sendJson(response, { success: false, error }),
  'a code': (_request, response) => sendJson(response, { success: false, error: { code: key } }, 400),
  'a redirect': (_request, response) => response.writeHead(302, { Location: `/login/${key}` }).end(),
  'a failure in which the key is escaped': (_request, response) =>
    send(response, JSON.stringify({ success: false, error }), 400),
  'a failure whose `success` is escaped': (_request, response) =>
    send(response, JSON.stringify({ success: false, error }).replace('success', 'succ\\u0065ss')),
  'a failure with the key in another form': (_request, response) =>
    sendJson(response, { success: false, error: { message: `Wrong: ${btoa(`Bearer ${key}`)}` } }, 400),
  'a redirect with the key in another form': (_request, response) =>
    response.writeHead(302, { Location: `/login/${key.replaceAll('-', '%2D')}` }).end(),
  'a failure in place of a part of a stream': (_request, response) =>
    send(
      response,
      `event: delta\ndata: ${JSON.stringify({ success: false, error })}\n\n`,
      200,
      'text/event-stream',
    ),
  'the end of a stream': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`event: error\ndata: ${JSON.stringify({ success: false, error })}\n\n`);
  },
};

it.each(Object.keys(scripts))('%s is reported without the key', async (name) => {
  const server = await serve(scripts[name] as Script);
  const traced: string[] = [];
  const { backend } = await openRemote(server.url, {
    trace: async (line: string) => void traced.push(line),
  });
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const call = callWith(key);
  const failures = [await failureOf(say(backend.service, call, 'Hello'))];
  if (!name.includes('stream')) failures.push(await failureOf(backend.service.verify(call)));
  for (const { message, hint, details, body, cause } of failures) {
    expect(message).toContain('[key]');
    const texts = [message, hint, JSON.stringify([details, body]), String(cause), ...traced].join();
    expect(texts).not.toContain(key);
    expect(texts).not.toMatch(/%2Dkey|YS1rZXktb2Ytc29tZS1zZXJ2ZX|Eta2V5LW9mLXNvbWUtc2Vyd/);
  }
});

it('a response of another kind is reported without the key', async () => {
  const server = await serve((_request, response) =>
    sendJson(response, { welcome: [{ [key]: `for ${key}` }] }),
  );
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const call = callWith(key);
  for (const work of [
    () => say(backend.service, call, 'Hello'),
    () => backend.service.deleteSession(call, 'a'),
  ])
    expect((await failureOf(work())).body).toEqual({ welcome: [{ '[key]': 'for [key]' }] });
});

it('the numbers in the body of a failure keep their digits when the key is removed', async () => {
  const error = `{"code":"NO","message":"${key}","limit":12345678901234567890}`;
  const server = await serve((_request, response) =>
    response.writeHead(400, { 'content-type': 'application/json' }).end(`{"success":false,"error":${error}}`),
  );
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const { body } = await failureOf(backend.service.verify(callWith(key)));
  expect(toJson(body)).toContain('"message":"[key]","limit":12345678901234567890');
});

it('a success is returned unchanged, even if it contains the key', async () => {
  const server = await serve((_request, response) => sendJson(response, { success: true, data: { key } }));
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const { data } = await backend.service.verify(callWith(key));
  expect(data).toMatchObject({ key });
});

it('a used-up budget keeps what remains of it when the key is removed from its failure', async () => {
  const remaining = { turns: 0, tokens: 7 };
  const server = await serve((_request, response) =>
    sendJson(
      response,
      { success: false, error: { ...error, code: 'BUDGET_EXCEEDED', details: { remaining } } },
      429,
    ),
  );
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const failure = await failureOf(backend.service.verify(callWith(key, { pacesItself: true })));
  expect(failure.message).toContain('[key]');
  expect(failure.remaining).toEqual(remaining);
});
