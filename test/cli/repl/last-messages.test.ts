// Only the last messages of a long session are read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lastMessages, lastTurn } from '../../../src/cli/repl/last-messages.ts';
import type { EmbeddedBackend } from '../../../src/service/backend.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import type { Message } from '../../../src/service/session.ts';
import type { MessageQuery } from '../../../src/service/session-archive.ts';
import { emptyRecord } from '../../contract/service/service-fixture.ts';
import { callWith } from '../../support/calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../../support/embedded.ts';

const count = 900;
const { session } = emptyRecord;
let backend: EmbeddedBackend;
let remove: () => Promise<void>;
let apiKey = '';

beforeAll(async () => {
  const directory = await temporaryDirectory();
  remove = directory.remove;
  backend = await openEmbedded(directory.path);
  apiKey = await newKey(backend, 'long');
  const messages = Array.from({ length: count }, (_, position): Message => {
    const isQuestion = position % 2 === 0;
    return {
      ...{ message_id: `msg_${position}`, position, role: isQuestion ? 'user' : 'assistant' },
      ...{
        content: `text ${position}`,
        mode: 'echo',
        finish_reason: isQuestion ? null : 'stop',
        usage: null,
      },
      created_at: session.created_at,
    };
  });
  const record = { session: { ...session, message_count: count }, messages };
  await backend.archive.importSession(callWith(apiKey), record);
});
afterAll(async () => {
  await backend.close();
  await remove();
});

/** `knowsLast`: false for a server of an earlier version. */
function counting(knowsLast: boolean) {
  const pages: number[] = [];
  const listMessages = async (
    ...[call, id, query]: Parameters<EmbeddedBackend['archive']['listMessages']>
  ) => {
    if (query.last && !knowsLast) throw new ParleyError('INVALID_REQUEST', 'The field last is unknown.');
    const page = await backend.archive.listMessages(call, id, query satisfies MessageQuery);
    pages.push(page.data.items.length);
    return page;
  };
  const archive = new Proxy(backend.archive, {
    get: (target, name) => (name === 'listMessages' ? listMessages : Reflect.get(target, name)),
  });
  const open = async () => ({ backend: { ...backend, archive }, apiKey });
  return { context: { open, call: async () => callWith(apiKey) }, pages };
}

test('the last messages are read as one page of the requested number', async () => {
  const { context, pages } = counting(true);
  const last = await lastMessages(session.session_id, 3, context);
  expect(last.map(({ position }) => position)).toEqual([count - 3, count - 2, count - 1]);
  expect(await lastTurn(session.session_id, context)).toEqual({ message: 'text 898', isAnswered: true });
  expect(pages).toEqual([3, 2]);
});

test('the last messages are read from all pages of a server without the field `last`', async () => {
  const { context, pages } = counting(false);
  const last = await lastMessages(session.session_id, 2, context);
  expect(last.map(({ position }) => position)).toEqual([count - 2, count - 1]);
  expect(pages).toEqual([200, 200, 200, 200, 100]);
});
