// One turn: stores the message, streams the reply, stores the reply or its received part. No engine is asked before the message is stored,
// and no `done` is sent before the reply is stored. These two rules keep every message and reply safe.
import type { ReplyEngine } from '../engine/reply-engine.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ReplyForm } from '../service/chat-event.ts';
import { isCut, type Message } from '../service/session.ts';
import type { Turn } from '../store/session-store.ts';
import { askWithFallback } from './ask-with-fallback.ts';
import { HeldTurn, TurnLost } from './held-turn.ts';
import type { LocalOptions } from './local-options.ts';
import { ReceivedReply } from './received-reply.ts';
import type { BegunTurn } from './turn-begin.ts';
import type { TurnBudget } from './turn-budget.ts';
import { replayedEvents, sessionEvent } from './turn-events.ts';
import { takenOver, turnFailure, undoneTurn } from './turn-failures.ts';

/** A turn that has begun, and all that it needs. */
export interface PreparedTurn {
  readonly local: LocalOptions;
  readonly projectId: string;
  readonly begunTurn: BegunTurn;
  /** The budget of the key, in which the turn is counted. */
  readonly budget: Pick<TurnBudget, 'end'>;
  readonly form: ReplyForm;
  readonly engine: ReplyEngine;
  /** The id of the reply, if another reply is asked for to a message that may have one; null for a chat. */
  readonly replyId: string | null;
  /** The schema of the reply; undefined for a reply of any form. */
  readonly schema: string | undefined;
}

/**
 * Runs a turn. `begin` begins it; what `begin` needs is not kept in memory while the reply runs. Another process may take the turn over when its lease ends, because this process stood still or seemed dead. Then:
 * - The engine is stopped within a second.
 * - `done` is sent only for a reply that is stored under the `message_id` that it names, and only if the deltas of this stream make its
 * text.
 * - If the other process has stored a whole reply that begins with the text sent so far, the rest of that reply and `done` follow. The same
 * holds for any whole reply if the caller does not read the deltas (`form` is `whole`).
 * - Otherwise the error is `SESSION_BUSY`, with the session and the message.
 * - The text that this process received is stored, unless the session has a better reply.
 * - A call for another reply is never answered with the stored reply: the error is `SESSION_BUSY`.
 */
export async function* runTurn(call: Call, begin: () => Promise<PreparedTurn>): AsyncGenerator<ChatEvent> {
  const { local, projectId, begunTurn, budget, form, engine, replyId, schema } = await begin();
  const { turn } = begunTurn;
  if (begunTurn.kind === 'answered') {
    if (isCut(begunTurn.reply)) throw undoneTurn(turn);
    yield sessionEvent(turn);
    yield* replayedEvents(turn, begunTurn.reply, '');
    return;
  }

  const reply = new ReceivedReply(local, projectId, turn, { budget, replyId });
  const lease = new HeldTurn(local.store, projectId, turn, {
    leaseMs: local.limits.turnLeaseMs,
    caller: call.signal,
    replySoFar: () => reply.soFar(),
  });
  try {
    yield sessionEvent(turn);
    const { signal } = lease;
    const options = { signal, showReasoning: call.showReasoning, schema };
    for await (const event of askWithFallback(local, projectId, begunTurn, engine, options)) {
      if (event.type === 'engine') {
        reply.begin(event);
        continue;
      }
      if (event.type === 'finish') {
        const end = await reply.end(event.reason, event.usage);
        // A consumer that got the last event may not ask for another one. The code below does not run then.
        lease.release();
        if (end.kind === 'kept') yield end.done;
        else yield* replayRest(turn, end.standing, form, reply.text);
        return;
      }
      reply.add(event);
      if (event.type === 'text') yield { event: 'delta', data: { text: event.text } };
      else if (event.text !== '') yield { event: 'reasoning', data: { text: event.text } };
      else call.notice?.({ kind: 'thinking' });
    }
  } catch (error) {
    if (reply.hasEnd) throw error;
    const isStopped = call.signal.aborted;
    const isLost = lease.signal.reason instanceof TurnLost;
    const code = isStopped || isLost ? null : turnFailure(error, turn).code;
    const end = await reply.end(code === null ? 'interrupted' : 'error', null, code);
    lease.release();
    if (isStopped) throw call.signal.reason;
    if (end.kind === 'lost') yield* replayRest(turn, end.standing, form, reply.text);
    else throw isLost ? takenOver(turn) : turnFailure(error, turn);
  } finally {
    lease.release();
    // Without an end, the consumer has stopped reading.
    if (!reply.hasEnd) await reply.end('interrupted', null);
  }
}

/** The rest of a lost turn whose text `sent` was sent already: the stored reply if it continues that text, else `SESSION_BUSY`. */
function* replayRest(turn: Turn, reply: Message | null, form: ReplyForm, sent: string): Generator<ChatEvent> {
  if (reply === null || isCut(reply)) throw takenOver(turn);
  if (form !== 'whole' && !reply.content.startsWith(sent)) throw takenOver(turn);
  yield* replayedEvents(turn, reply, sent);
}
