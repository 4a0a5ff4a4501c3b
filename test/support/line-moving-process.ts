// A process that randomly chats, requests other replies, undoes, redoes and forks in one session, until it is killed. It reports each acknowledged
// message to its parent.
import { ParleyError } from '../../src/service/errors.ts';
import type { Message } from '../../src/service/session.ts';
import { callWith, collect } from './calls.ts';
import { engineOf, openEmbedded } from './embedded.ts';
import { lives } from './living-owner.ts';

export interface LineMoving {
  readonly directory: string;
  readonly apiKey: string;
  readonly session: string;
  /** Distinguishes the texts of this process. */
  readonly name: string;
}

/** Messages of a session that were acknowledged. */
export interface Acknowledged {
  readonly session: string;
  readonly messages: readonly Pick<Message, 'message_id' | 'content'>[];
}

process.on('message', async ({ directory, apiKey, session, name }: LineMoving) => {
  let count = 0;
  const engines = engineOf(async function* () {
    yield { type: 'text', text: `reply ${name} ${count} ` };
    yield { type: 'text', text: 'word '.repeat(2000) };
    yield { type: 'finish', reason: 'stop', usage: null };
  });
  const owner = { id: `process ${process.pid}`, isGone: (other: string) => !lives(other) };
  const { service, archive } = await openEmbedded(directory, { engines, owner });
  const tell = (acknowledged: Acknowledged) => process.send?.(acknowledged);
  const call = callWith(apiKey);
  const operations = [
    () =>
      turn(
        service.chat(
          call,
          { mode: 'test', message: `message ${name} ${count}`, session_id: session },
          'whole',
        ),
      ),
    () => turn(archive.regenerate(call, session, {}, 'whole')),
    async () => moved((await archive.undoTurn(call, session)).data.message),
    async () => moved((await archive.redoTurn(call, session)).data.message),
    async () => {
      const { session_id, message_count } = (await archive.forkSession(call, session, {})).data;
      const page = { limit: 200, cursor: null };
      const { items } = (await archive.listMessages(call, session_id, page)).data;
      if (items.length !== message_count) throw new Error(`${session_id} is not whole`);
      tell({ session: session_id, messages: items });
    },
  ];
  for (;;) {
    count += 1;
    try {
      await operations[Math.floor(Math.random() * 7) % operations.length]?.();
    } catch (error) {
      // There may be nothing to undo, redo, answer or copy, and on a slow machine the other process may hold the turn for long.
      if (!(error instanceof ParleyError) || !['INVALID_REQUEST', 'SESSION_BUSY'].includes(error.code))
        throw error;
    }
  }

  async function turn(events: ReturnType<typeof service.chat>) {
    const done = (await collect(events)).at(-1);
    if (done?.event === 'done')
      tell({ session, messages: [{ message_id: done.data.message_id, content: done.data.reply }] });
  }

  function moved({ message_id, content }: Message) {
    tell({ session, messages: [{ message_id, content }] });
  }
});
