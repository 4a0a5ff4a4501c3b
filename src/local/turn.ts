// One turn: stores the message, streams the reply, stores the reply or its received part. No engine is asked before the message is stored,
// and no `done` is sent before the reply is stored. These two rules keep every message and reply safe.
import type { ReplyEngine } from '../engine/reply-engine.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatReply, ReplyForm } from '../service/chat-event.ts';
import type { ErrorCode, ParleyError } from '../service/errors.ts';
import { resultOf } from '../service/result.ts';
import { type FinishReason, isCut, type Message, type Usage } from '../service/session.ts';
import type { Turn } from '../store/session-store.ts';
import { askWithFallback } from './ask-with-fallback.ts';
import { HeldTurn, TurnLost } from './held-turn.ts';
import type { LocalOptions } from './local-options.ts';
import { lostReply } from './lost-reply.ts';
import { withSlowStoreNotice } from './slow-store-notice.ts';
import type { BegunTurn } from './turn-begin.ts';
import type { TurnBudget } from './turn-budget.ts';
import { sessionNotFound, takenOver, turnFailure, undoneTurn } from './turn-failures.ts';

export interface ChosenTurn {
  readonly begun: BegunTurn;
  /** The budget of the key, in which the turn is counted. */
  readonly budget: Pick<TurnBudget, 'end'>;
  readonly form: ReplyForm;
  readonly engine: ReplyEngine;
  /** The id of the reply, if another reply is asked for to a message that may have one; null for a chat. */
  readonly replyId: string | null;
  /** The schema of the reply; missing for a reply of any form. */
  readonly schema?: string;
}

/**
 * Runs a turn. Another process may take the turn over when its lease ends, because this process stood still or seemed dead. Then:
 * - The engine is stopped within a second.
 * - `done` is sent only for a reply that is stored under the `message_id` that it names, and only if the deltas of this stream make its
 * text.
 * - If the other process has stored a whole reply that begins with the text sent so far, the rest of that reply and `done` follow. The same
 * holds for any whole reply if the caller does not read the deltas (`form` is `whole`).
 * - Otherwise the error is `SESSION_BUSY`, with the session and the message.
 * - The text that this process received is stored, unless the session has a better reply.
 * - A call for another reply is never answered with the stored reply: the error is `SESSION_BUSY`.
 */
export async function* runTurn(
  local: LocalOptions,
  projectId: string,
  call: Call,
  { begun, budget, form, engine, replyId, schema }: ChosenTurn,
): AsyncGenerator<ChatEvent> {
  const { turn } = begun;
  if (begun.kind === 'answered') {
    if (isCut(begun.reply)) throw undoneTurn(turn);
    yield started(turn);
    yield* replayed(turn, begun.reply, '');
    return;
  }

  let text = '';
  let mode = turn.mode;
  let turnsLeftOut = 0;
  let askedAt = local.sinceBoot();
  let firstTokenMs: number | null = null;
  let tried = false;
  let unkept: ParleyError | null = null;
  let partsId: string | null = null;
  const held = new HeldTurn(local.store, projectId, turn, {
    leaseMs: local.limits.turnLeaseMs,
    caller: call.signal,
    soFar: () => {
      const now = local.now();
      partsId ??= local.ids.next('msg', now);
      return { text, mode, message_id: partsId, now };
    },
  });
  /** Stores the text so far as the reply. Returns the `done` event, or `lost` with the reply that is stored in its place, if any. */
  const keep = async (
    finishReason: FinishReason,
    usage: Usage | null,
    errorCode: ErrorCode | null = null,
  ): Promise<Kept> => {
    tried = true;
    const now = local.now();
    const message = {
      message_id: replyId ?? local.ids.next('msg', now),
      content: text,
      finish_reason: finishReason,
      mode,
    };
    const ending = local.store.endTurn(projectId, turn, {
      ...message,
      usage,
      first_token_ms: firstTokenMs,
      error_code: errorCode,
      now,
    });
    const settled = budget.end(usage, text);
    const end = await withSlowStoreNotice(ending, local.say).catch((error: unknown) => {
      unkept = lostReply(error, turn);
      throw unkept;
    });
    await settled;
    switch (end.kind) {
      case 'not_found':
        unkept = sessionNotFound();
        throw unkept;
      case 'lost':
        return { kind: 'lost', standing: replyId === null ? end.standing : null };
      case 'kept': {
        const { message_count } = end;
        const created_at = new Date(now).toISOString();
        const ending = { ...message, usage, message_count, created_at, turns_left_out: turnsLeftOut };
        return { kind: 'kept', done: done(turn, ending) };
      }
    }
  };

  try {
    yield started(turn);
    const { signal } = held;
    const asking = { ...call, signal, ...(schema !== undefined && { schema }) };
    for await (const event of askWithFallback(local, projectId, begun, engine, asking)) {
      if (event.type === 'asked') {
        ({ mode, turnsLeftOut } = event);
        askedAt = local.sinceBoot();
        continue;
      }
      if (event.type === 'finish') {
        const end = await keep(event.reason, event.usage);
        // A consumer that got the last event may not ask for another one. The code below does not run then.
        held.release();
        if (end.kind === 'kept') yield end.done;
        else yield* storedRest(turn, end.standing, form, text);
        return;
      }
      firstTokenMs ??= local.sinceBoot() - askedAt;
      if (event.type === 'text') {
        text += event.text;
        yield { event: 'delta', data: { text: event.text } };
      } else if (event.text !== '') {
        yield { event: 'reasoning', data: { text: event.text } };
      } else {
        call.notice?.({ kind: 'thinking' });
      }
    }
  } catch (error) {
    if (tried) throw unkept ?? error;
    const isStopped = call.signal.aborted;
    const isLost = held.signal.reason instanceof TurnLost;
    const code = isStopped || isLost ? null : turnFailure(error, turn).code;
    const end = await keep(code === null ? 'interrupted' : 'error', null, code);
    held.release();
    if (isStopped) throw call.signal.reason;
    if (end.kind === 'lost') yield* storedRest(turn, end.standing, form, text);
    else throw isLost ? takenOver(turn) : turnFailure(error, turn);
  } finally {
    held.release();
    // No attempt to store was made: the consumer stopped reading.
    if (!tried) await keep('interrupted', null);
  }
}

type Kept =
  | { readonly kind: 'kept'; readonly done: ChatEvent }
  | { readonly kind: 'lost'; readonly standing: Message | null };

/** The rest of a lost turn whose text `sent` was sent already: the stored reply if it continues that text, else `SESSION_BUSY`. */
function* storedRest(turn: Turn, reply: Message | null, form: ReplyForm, sent: string): Generator<ChatEvent> {
  if (reply === null || isCut(reply)) throw takenOver(turn);
  if (form !== 'whole' && !reply.content.startsWith(sent)) throw takenOver(turn);
  yield* replayed(turn, reply, sent);
}

/** A stored reply, sent in place of a new one. */
function* replayed(turn: Turn, reply: Message, sent: string): Generator<ChatEvent> {
  const rest = reply.content.startsWith(sent) ? reply.content.slice(sent.length) : '';
  if (rest !== '' || sent === '') yield { event: 'delta', data: { text: rest } };
  yield done(turn, {
    ...reply,
    finish_reason: reply.finish_reason ?? 'stop',
    turns_left_out: 0,
    message_count: reply.position + 1,
  });
}

function started({ session_id, message_id, mode }: Turn): ChatEvent {
  return { event: 'session', data: { session_id, message_id, mode } };
}

type Ending = Omit<ChatReply, 'session_id' | 'reply'> & { readonly content: string };

function done(turn: Turn, ending: Ending): ChatEvent {
  const reply = {
    session_id: turn.session_id,
    message_id: ending.message_id,
    mode: ending.mode,
    reply: ending.content,
    finish_reason: ending.finish_reason,
    created_at: ending.created_at,
    message_count: ending.message_count,
    usage: ending.usage,
  };
  const { turns_left_out } = ending;
  const data: ChatReply = { ...reply, turns_left_out };
  return { event: 'done', data, body: resultOf(turns_left_out === 0 ? reply : data).body };
}
