// The lifetime of an idempotency key: it repeats its answer; afterwards it is free, and nothing of it is stored.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ParleyError } from '../../src/service/errors.ts';
import { defaultLimits } from '../../src/service/limits.ts';
import { emptyRecord } from '../contract/service/service-fixture.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';
import { engineOf, finish, newKey, openEmbedded } from '../support/embedded.ts';
import { lookInto } from '../support/raw-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a key repeats its answer for a day; then it is free for another request, and is erased', async () => {
  const directory = temporaryDirectory();
  const clock = { now: Date.parse('2024-05-01T12:00:00Z') };
  const backend = await openEmbedded(directory, { now: () => clock.now, sinceBoot: () => clock.now });
  const apiKey = await newKey(backend, 'first');
  const create = async (idempotencyKey: string, title: string) =>
    (await backend.service.createSession(callWith(apiKey, { idempotencyKey }), { title })).data.session_id;
  const chat = (message: string) =>
    collect(
      backend.service.chat(
        callWith(apiKey, { idempotencyKey: 'chat' }),
        { mode: 'echo', message, session_id: null },
        'chunks',
      ),
    );
  const first = await create('key', 'one');
  await chat('hello');
  clock.now += defaultLimits.idempotencyMs;
  expect(await create('key', 'one')).toBe(first);
  await expect(create('key', 'two')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  await expect(chat('other')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  clock.now += 1;
  const second = await create('key', 'two');
  expect(second).not.toBe(first);
  expect(await create('key', 'two')).toBe(second);
  expect((await chat('other')).at(-1)).toMatchObject({ event: 'done' });
  clock.now += defaultLimits.idempotencyMs + 1;
  await create('last', 'three');
  await backend.close();
  const keys = lookInto(join(directory, 'parley.db'), (database) =>
    database.prepare('SELECT key FROM idempotency').pluck().all(),
  );
  expect(keys).toEqual(['last']);
});

test('a key of an import is free after a day as well', async () => {
  const clock = { now: Date.parse('2024-05-01T12:00:00Z') };
  const backend = await openEmbedded(temporaryDirectory(), {
    now: () => clock.now,
    sinceBoot: () => clock.now,
  });
  const call = callWith(await newKey(backend, 'first'), { idempotencyKey: 'key' });
  const take = async (session_id: string) => {
    const record = { ...emptyRecord, session: { ...emptyRecord.session, session_id } };
    return (await backend.archive.importSession(call, record)).data.session_id;
  };
  await take('ses_one');
  clock.now += defaultLimits.idempotencyMs;
  await expect(take('ses_two')).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  clock.now += 1;
  expect(await take('ses_two')).toBe('ses_two');
  await backend.close();
});

test('the key of a cut turn that was undone gets no reply, until the turn is brought back', async () => {
  const engine = { asked: 0, fails: true };
  const engines = engineOf(async function* () {
    engine.asked += 1;
    if (engine.fails) throw new ParleyError('ENGINE_FAILED', 'The engine failed.');
    yield { type: 'text', text: 'whole' };
    yield finish;
  });
  const backend = await openEmbedded(temporaryDirectory(), { engines });
  const call = callWith(await newKey(backend, 'first'), { idempotencyKey: 'key' });
  const chat = () => say(backend.service, call, 'hello', null, 'test');
  const { session_id, message_id } = await failureOf(chat());
  const other = { ...call, idempotencyKey: null };
  await backend.archive.undoTurn(other, session_id ?? '');
  engine.fails = false;
  expect(await failureOf(chat())).toMatchObject({ code: 'INVALID_REQUEST', session_id, message_id });
  expect(engine.asked).toBe(1);
  await backend.archive.redoTurn(other, session_id ?? '');
  expect(await chat()).toMatchObject({ session_id, reply: 'whole', finish_reason: 'stop' });
  await backend.close();
});

const hour = 60 * 60 * 1000;

/** The steps of the two clocks between a request and its repetition, in hours: the time of day and the time since the start of the machine, in turn. */
test.each<[string, 'known' | 'free', readonly number[]]>([
  ['the time of day is set forward by two days', 'known', [48, 0]],
  ['the time of day is set forward by fifty years, an hour later', 'known', [438_000, 1]],
  ['it is set forward by two days and back again', 'known', [48, 1, -47, 1]],
  ['it is set back by two days, and 23 hours go by', 'known', [-48, 0, 23, 23]],
  ['it is set back by two days, and 25 hours go by', 'free', [-48, 0, 25, 25]],
  ['it is set forward by two days, and 25 hours go by', 'free', [48, 0, 25, 25]],
  ['the machine starts again, and 22 hours go by', 'known', [1, -900, 22, 22]],
  ['the machine starts again, and 25 hours go by', 'free', [1, -900, 25, 25]],
  ['the machine starts again after two days', 'free', [48, -900]],
])('after the answer, %s: a key is %s', async (_, expected, steps) => {
  const directory = temporaryDirectory();
  const clocks = { now: Date.parse('2024-05-01T12:00:00Z'), sinceBoot: 1000 * hour };
  const open = () => openEmbedded(directory, { now: () => clocks.now, sinceBoot: () => clocks.sinceBoot });
  const first = await open();
  const apiKey = await newKey(first, 'first');
  const create = (backend: typeof first, idempotencyKey: string) =>
    backend.service.createSession(callWith(apiKey, { idempotencyKey }), { title: 'one' });
  const { session_id } = (await create(first, 'key')).data;
  // Each step uses another process of the program, with other running requests.
  for (let index = 0; index < steps.length; index += 2) {
    clocks.now += (steps[index] ?? 0) * hour;
    clocks.sinceBoot += (steps[index + 1] ?? 0) * hour;
    const later = await open();
    await create(later, `other-${index}`);
    await later.close();
  }
  const again = (await create(first, 'key')).data.session_id;
  expect(again === session_id ? 'known' : 'free').toBe(expected);
  await first.close();
});
