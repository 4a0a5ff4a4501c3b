// Other replies of the embedded service whose turn does not end as usual.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import type { Message } from '../../src/service/session.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { turnStart } from '../store/store-samples.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';
import { engineOf, finish, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

let place: Awaited<ReturnType<typeof temporaryDirectory>>;
let backend: EmbeddedBackend;
let store: SessionStore;
let key: string;
/** Called after the engine was asked, before its reply continues. */
let asked: () => Promise<unknown>;
let count: number;

beforeEach(() => open());
afterEach(close);

/** `turnWaitMs`: how long a call waits for the turn of its session. */
async function open(turnWaitMs = 20_000) {
  place = await temporaryDirectory();
  count = 0;
  asked = async () => {};
  const engines = engineOf(async function* () {
    count += 1;
    yield { type: 'text', text: `reply ${count}` };
    await asked();
    yield finish;
  });
  backend = await openEmbedded(place.path, {
    engines,
    owner: { id: 'this', isGone: () => false },
    limits: { turnWaitMs },
    around: (opened) => {
      store = opened;
      return opened;
    },
  });
  key = await newKey(backend, 'project');
}

async function close() {
  await backend.close();
  await place.remove();
}

const regenerate = (session: string, form: 'whole' | 'chunks' = 'whole') =>
  collect(backend.archive.regenerate(callWith(key), session, {}, form));

async function messages(session: string): Promise<readonly Message[]> {
  const query = { limit: 50, cursor: null, all: true };
  return (await backend.archive.listMessages(callWith(key), session, query)).data.items;
}

test.each(['whole', 'chunks'] as const)(
  'a regeneration that another process took over gets no response, although a complete reply is stored (%s)',
  async (form) => {
    const { session_id } = await say(backend.service, callWith(key), 'Hi', null, 'test');
    const { project_id } = (await backend.service.verify(callWith(key))).data;
    asked = () => store.beginTurn(project_id, turnStart({ session_id, deadOwner: 'this', mode: 'test' }));
    const failure = await failureOf(regenerate(session_id, form));
    expect(failure).toMatchObject({ code: 'SESSION_BUSY', session_id });
    expect((await messages(session_id)).map(({ content }) => content)).toEqual(['Hi', 'reply 1', 'Hello']);
  },
);

test('undo, redo and another reply are refused during a regeneration, and a fork is not', async () => {
  await close();
  await open(50);
  const { session_id } = await say(backend.service, callWith(key), 'Hi', null, 'test');
  const { archive } = backend;
  const codes: string[] = [];
  asked = async () => {
    for (const refused of [
      () => archive.undoTurn(callWith(key), session_id),
      () => archive.redoTurn(callWith(key), session_id),
      () => regenerate(session_id),
    ])
      codes.push((await failureOf(refused())).code);
    const { message_count } = (await archive.forkSession(callWith(key), session_id, {})).data;
    expect(message_count).toBe(2);
  };
  await regenerate(session_id);
  expect(codes).toEqual(['SESSION_BUSY', 'SESSION_BUSY', 'SESSION_BUSY']);
  expect((await messages(session_id)).map(({ content }) => content).sort()).toEqual([
    ...['Hi', 'reply 1', 'reply 2'],
  ]);
});

test('an undo waits for the turn that runs in its process', async () => {
  const { session_id } = await say(backend.service, callWith(key), 'one', null, 'test');
  let undone: ReturnType<typeof backend.archive.undoTurn> | null = null;
  asked = async () => {
    undone = backend.archive.undoTurn(callWith(key), session_id);
  };
  await say(backend.service, callWith(key), 'two', session_id, 'test');
  expect((await (undone as ReturnType<typeof backend.archive.undoTurn> | null))?.data.message.content).toBe(
    'two',
  );
});

test('a session whose mode was removed keeps its reply, and the error names the existing modes', async () => {
  const { session_id } = await say(backend.service, callWith(key), 'Hi', null, 'test');
  const { project_id } = (await backend.service.verify(callWith(key))).data;
  const gone = await store.beginTurn(project_id, turnStart({ session_id, mode: 'gone' }));
  expect(gone.kind).toBe('begun');
  expect(await failureOf(regenerate(session_id))).toMatchObject({
    ...{ code: 'UNKNOWN_MODE', hint: 'Modes: test.' },
  });
});
