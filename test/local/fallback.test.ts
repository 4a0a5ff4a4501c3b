// A mode that fails before its first word, and its fallback.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import type { EngineEvent, ReplyEngine } from '../../src/engine/reply-engine.ts';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { type ErrorCode, ParleyError } from '../../src/service/errors.ts';
import { callWith, collect } from '../support/calls.ts';
import { finish, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { lookInto } from '../support/raw-database.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let backend: EmbeddedBackend;
let key: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(async () => {
  await backend.close();
  await directory.remove();
});

interface Scripted {
  readonly events?: readonly EngineEvent[];
  readonly fails?: ErrorCode;
  readonly fallback?: string;
  readonly showsReasoning?: boolean;
}

async function open(modes: Readonly<Record<string, Scripted>>): Promise<readonly string[]> {
  const requested: string[] = [];
  const engineOf = (name: string, mode: Scripted): ReplyEngine => ({
    name,
    historyMessages: 10,
    fallback: mode.fallback ?? null,
    showsReasoning: mode.showsReasoning ?? false,
    async *reply() {
      requested.push(name);
      yield* mode.events ?? [];
      if (mode.fails !== undefined) {
        const remedy = { kind: 'check_mode', mode: name, subject: 'address' } as const;
        throw new ParleyError(mode.fails, `${name} failed.`, { hint: 'Wait.', remedy });
      }
      yield finish;
    },
  });
  const engines: EngineSet = {
    modes: Object.keys(modes).map((name, at) => ({
      ...{ name, description: '', engine: 'test', model: null, default: at === 0 },
    })),
    engine: (name) => (modes[name] === undefined ? null : engineOf(name, modes[name])),
  };
  backend = await openEmbedded(directory.path, { engines });
  key = await newKey(backend, 'project');
  return requested;
}

const textEvent = (text: string): EngineEvent => ({ type: 'text', text });
const thought = (text: string): EngineEvent => ({ type: 'reasoning', text });
const chat = (mode: string, call = {}) =>
  collect(backend.service.chat(callWith(key, call), { mode, message: 'Hello', session_id: null }, 'chunks'));

it('replies, and is named in the response and in the store', async () => {
  const asked = await open({
    large: { fails: 'ENGINE_TIMEOUT', fallback: 'small' },
    small: { events: [textEvent('Hi')] },
  });
  const events = await chat('large');
  expect(asked).toEqual(['large', 'small']);
  expect(events[0]).toMatchObject({ event: 'session', data: { mode: 'large' } });
  const done = events.at(-1);
  expect(done).toMatchObject({ event: 'done', data: { mode: 'small', reply: 'Hi' } });
  const page = await backend.archive.listMessages(
    callWith(key),
    done?.event === 'done' ? done.data.session_id : '',
    {
      ...{ limit: 10, cursor: null },
    },
  );
  expect(page.data.items.map(({ mode }) => mode)).toEqual(['large', 'small']);
});

it('is not asked after the first text, and the turn is marked with the code', async () => {
  const asked = await open({
    large: { events: [textEvent('Ha')], fails: 'ENGINE_FAILED', fallback: 'small' },
    small: {},
  });
  await expect(chat('large')).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: 'large failed.' });
  expect(asked).toEqual(['large']);
  const rows = lookInto(`${directory.path}/parley.db`, (database) =>
    database
      .prepare("SELECT content, finish_reason, error_code FROM messages WHERE role = 'assistant'")
      .all(),
  );
  expect(rows).toEqual([{ content: 'Ha', finish_reason: 'error', error_code: 'ENGINE_FAILED' }]);
});

it('is asked although hidden reasoning was received', async () => {
  const modes = {
    large: { events: [thought('Hm')], fails: 'ENGINE_FAILED', fallback: 'small' },
    small: { events: [textEvent('Hi')] },
  } as const;
  const asked = await open(modes);
  expect((await chat('large')).map(({ event }) => event)).toEqual(['session', 'delta', 'done']);
  expect(asked).toEqual(['large', 'small']);
});

it('fails, too: the first failure is reported, with the other', async () => {
  await open({
    large: { fails: 'RATE_LIMITED', fallback: 'small' },
    small: { fails: 'ENGINE_FAILED', fallback: 'large' },
  });
  await expect(chat('large')).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'large failed.',
    hint: expect.stringMatching(/Its fallback small failed, too: small failed\. Wait\./),
    remedy: { kind: 'check_mode', mode: 'large', subject: 'address' },
    session_id: expect.stringMatching(/^ses_/),
  });
});

it('reasoning is shown on request, or if the mode is set to show it', async () => {
  await open({
    quiet: { events: [thought('Hm'), textEvent('Hi')] },
    open: { events: [thought('Hm'), textEvent('Hi')], showsReasoning: true },
  });
  const eventsOf = async (mode: string, call = {}) => (await chat(mode, call)).map(({ event }) => event);
  expect(await eventsOf('quiet')).toEqual(['session', 'delta', 'done']);
  expect(await eventsOf('quiet', { showReasoning: true })).toEqual(['session', 'reasoning', 'delta', 'done']);
  expect(await eventsOf('open')).toEqual(['session', 'reasoning', 'delta', 'done']);
});
