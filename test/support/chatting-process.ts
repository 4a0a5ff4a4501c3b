// A process with a chat of its own over a store, which a test can stop, continue or kill. It gets the message and the lease of its turns, and
// reports the outcome of its chat.
import type { EngineEvent } from '../../src/engine/reply-engine.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { callWith } from './calls.ts';
import { engineOf, openEmbedded } from './embedded.ts';

export interface Chatting {
  readonly directory: string;
  readonly apiKey: string;
  readonly session: string | null;
  readonly message: string;
  readonly key: string | null;
  readonly turnLeaseMs: number;
  readonly turnWaitMs: number;
  /** The reply: a chunk at each interval, in ms. */
  readonly chunks: readonly string[];
  readonly everyMs: number;
}

export type ChatReport =
  | { readonly kind: 'delta'; readonly text: string }
  | { readonly kind: 'stopped engine' }
  | {
      readonly kind: 'done';
      readonly message_id: string;
      readonly session_id: string;
      readonly reply: string;
    }
  | { readonly kind: 'error'; readonly code: string; readonly session_id: string | null };

function say(event: ChatReport): void {
  process.send?.(event);
}

process.on('message', async (chatting: Chatting) => {
  const { directory, apiKey, session, message, key, turnLeaseMs, turnWaitMs, chunks, everyMs } = chatting;
  const engines = engineOf(async function* (_, signal): AsyncGenerator<EngineEvent> {
    let hasFinished = false;
    signal.addEventListener('abort', () => {
      if (!hasFinished) say({ kind: 'stopped engine' });
    });
    for (const text of chunks) {
      yield { type: 'text', text };
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      signal.throwIfAborted();
    }
    hasFinished = true;
    yield { type: 'finish', reason: 'stop', usage: null };
  });
  const owner = { id: `process ${process.pid}`, isGone: () => false };
  const backend = await openEmbedded(directory, { engines, owner, limits: { turnLeaseMs, turnWaitMs } });
  const call = callWith(apiKey, { idempotencyKey: key });
  const request = { mode: 'test', message, session_id: session };
  try {
    for await (const event of backend.service.chat(call, request, 'chunks')) {
      if (event.event === 'delta') say({ kind: 'delta', text: event.data.text });
      if (event.event === 'done') {
        const { message_id, session_id, reply } = event.data;
        say({ kind: 'done', message_id, session_id, reply });
      }
    }
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    say({ kind: 'error', code: error.code, session_id: error.session_id });
  }
  await backend.close();
  process.disconnect();
});
