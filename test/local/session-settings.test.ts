// The settings of a session for an engine: read when a turn begins, in every turn, and for a fallback mode, too.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { EngineContext, ReplyEngine } from '../../src/engine/reply-engine.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { noSettings } from '../../src/service/session.ts';
import { callWith, collect } from '../support/calls.ts';
import { finish, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let backend: EmbeddedBackend;
let call: Call;
let given: (EngineContext & { readonly by: string })[];
let contextTokens: number | null;
/** Runs while the first turn is replied to. */
let meanwhile: () => Promise<unknown>;

const engineOf = (name: string): ReplyEngine => ({
  name,
  historyMessages: Number.MAX_SAFE_INTEGER,
  ...(contextTokens !== null && { contextTokens }),
  fallback: name === 'failing' ? 'other' : null,
  async *reply(context) {
    given.push({ ...context, by: name });
    if (name === 'failing') throw new ParleyError('ENGINE_FAILED', 'Failed.');
    await meanwhile();
    yield { type: 'text', text: 'x'.repeat(30) };
    yield finish;
  },
});
const names = ['test', 'failing', 'other'];
const engines: EngineSet = {
  modes: names.map((name, at) => ({ name, description: '', engine: 'test', model: null, default: at === 0 })),
  engine: (name) => (names.includes(name) ? engineOf(name) : null),
};

beforeEach(async () => {
  [given, contextTokens, meanwhile] = [[], null, async () => {}];
  directory = await temporaryDirectory();
  backend = await openEmbedded(directory.path, { engines });
  call = callWith(await newKey(backend, 'project'));
});
afterEach(async () => {
  await backend.close();
  await directory.remove();
});

const settings = { system: 'In French.', parameters: { seed: 1 } };
const create = async (start = {}) =>
  (await backend.service.createSession(call, { title: null, ...start })).data.session_id;
const chat = (session_id: string | null, request: object = {}) =>
  collect(backend.service.chat(call, { mode: 'test', message: 'hi', session_id, ...request }, 'whole'));
const asked = () => given.map(({ by, system, parameters }) => ({ by, system, parameters }));

it('are used for every turn of a session, and for the first one of a session that a chat creates', async () => {
  const session = await create(settings);
  await chat(session);
  await chat(session);
  await chat(null, settings);
  await chat(null);
  const expected = { by: 'test', ...settings };
  expect(asked()).toEqual([expected, expected, expected, { by: 'test', ...noSettings }]);
});

it('are used for the fallback of a mode that fails, which does not become the mode of the session', async () => {
  const session = await create(settings);
  await chat(session, { mode: 'failing' });
  expect(asked()).toEqual([
    { by: 'failing', ...settings },
    { by: 'other', ...settings },
  ]);
  expect((await backend.service.getSession(call, session)).data.mode).toBe('failing');
});

it('are those of the start of the turn, and a change applies from the next turn on', async () => {
  const session = await create(settings);
  meanwhile = () => backend.archive.changeSession(call, session, { system: 'In Greek.', parameters: {} });
  await chat(session);
  await chat(session);
  expect(asked()).toEqual([
    { by: 'test', ...settings },
    { by: 'test', system: 'In Greek.', parameters: {} },
  ]);
});

it('take their part of the context: a longer system prompt leaves room for fewer turns', async () => {
  contextTokens = 100;
  const session = await create();
  for (let turns = 0; turns < 6; turns += 1) await chat(session);
  expect(given.at(-1)?.history).toHaveLength(10);
  await backend.archive.changeSession(call, session, { system: 'x'.repeat(90) });
  await chat(session);
  expect(given.at(-1)?.history).toHaveLength(6);
});

it('of a repeated turn are those of its session', async () => {
  call = { ...call, idempotencyKey: 'once' };
  const session = await create(settings);
  call = { ...call, idempotencyKey: 'turn' };
  meanwhile = () => Promise.reject(new ParleyError('ENGINE_FAILED', 'Failed.'));
  await expect(chat(session)).rejects.toThrow('Failed.');
  meanwhile = async () => {};
  await chat(session);
  expect(asked()).toEqual([
    { by: 'test', ...settings },
    { by: 'test', ...settings },
  ]);
});
