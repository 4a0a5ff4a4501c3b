// One turn: keep the message, stream the reply, keep the reply, or what there was of it. The two writes and their order are
// what "nothing said is ever lost" rests on: no engine is asked before the first, no `done` is said before the second.
import type { ReplyEngine } from '../engine/reply-engine.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatReply, ChatRequest, ReplyForm } from '../service/chat-event.ts';
import type { ErrorCode, ParleyError } from '../service/errors.ts';
import { resultOf } from '../service/result.ts';
import { type FinishReason, isCut, type Message, type Usage } from '../service/session.ts';
import type { IdempotencyKey, Turn } from '../store/session-store.ts';
import type { Access } from './api-keys.ts';
import { askWithFallback } from './ask-with-fallback.ts';
import { HeldTurn, TurnLost } from './held-turn.ts';
import { keptSoon } from './late-keeping.ts';
import type { LocalOptions } from './local-options.ts';
import { lostReply } from './lost-reply.ts';
import { beginWhenFree } from './turn-begin.ts';
import { failure, sessionNotFound, takenOver } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';

export interface ChosenTurn {
  readonly request: ChatRequest;
  readonly form: ReplyForm;
  readonly once: IdempotencyKey | null;
  readonly engine: ReplyEngine;
}

/**
 * The contract of a turn that another process takes over while it runs (its lease ended: this process stood still, or seemed dead):
 * the engine is stopped within a second, and `done` is said only for a reply that is stored under the id that it names, and that is the
 * text which the deltas of this stream make. So, where a whole reply of the other stands: its rest and `done`, if it begins with what
 * was said here, or if nobody looks at the chunks (`form` is `whole`). Otherwise the error `SESSION_BUSY`, which names the session and
 * the message. What was said here is kept if nothing better stands.
 */
export async function* runTurn(
  local: LocalOptions,
  queue: TurnQueue,
  { projectId, keyHash }: Access,
  call: Call,
  { request, form, once, engine }: ChosenTurn,
): AsyncGenerator<ChatEvent> {
  const begin = await beginWhenFree(local, queue, { projectId, keyHash }, call, request, once);
  const { turn } = begin;
  if (begin.kind === 'answered') {
    yield started(turn);
    yield* replayed(turn, begin.reply, '');
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
  /** The last event, or null where the turn was lost and no whole reply stands. */
  const keep = async (
    finishReason: FinishReason,
    usage: Usage | null,
    errorCode: ErrorCode | null = null,
  ): Promise<Kept> => {
    tried = true;
    const now = local.now();
    const message = {
      message_id: local.ids.next('msg', now),
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
    const end = await keptSoon(ending, local.say).catch((error: unknown) => {
      unkept = lostReply(error, turn);
      throw unkept;
    });
    switch (end.kind) {
      case 'not_found':
        unkept = sessionNotFound();
        throw unkept;
      case 'lost':
        return { kind: 'lost', standing: end.standing };
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
    for await (const event of askWithFallback(local, projectId, turn, engine, { ...call, signal })) {
      if (event.type === 'asked') {
        ({ mode, turnsLeftOut } = event);
        askedAt = local.sinceBoot();
        continue;
      }
      if (event.type === 'finish') {
        const end = await keep(event.reason, event.usage);
        // Whoever got the last event may not ask for another, and then nothing below is reached.
        held.release();
        if (end.kind === 'kept') yield end.done;
        else yield* standing(turn, end.standing, form, text);
        return;
      }
      firstTokenMs ??= local.sinceBoot() - askedAt;
      if (event.type === 'text') {
        text += event.text;
        yield { event: 'delta', data: { text: event.text } };
      } else if (event.text !== '') {
        yield { event: 'reasoning', data: { text: event.text } };
      }
    }
  } catch (error) {
    if (tried) throw unkept ?? error;
    const isStopped = call.signal.aborted;
    const isLost = held.signal.reason instanceof TurnLost;
    const code = isStopped || isLost ? null : failure(error, turn).code;
    const end = await keep(code === null ? 'interrupted' : 'error', null, code);
    held.release();
    if (isStopped) throw call.signal.reason;
    if (end.kind === 'lost') yield* standing(turn, end.standing, form, text);
    else throw isLost ? takenOver(turn) : failure(error, turn);
  } finally {
    held.release();
    // Reached with nothing tried only when the consumer stopped reading.
    if (!tried) await keep('interrupted', null);
  }
}

type Kept =
  | { readonly kind: 'kept'; readonly done: ChatEvent }
  | { readonly kind: 'lost'; readonly standing: Message | null };

/** The rest of a turn that was lost, of which `said` was told already: the reply that stands, where that is the truth. */
function* standing(turn: Turn, reply: Message | null, form: ReplyForm, said: string): Generator<ChatEvent> {
  if (reply === null || isCut(reply)) throw takenOver(turn);
  if (form !== 'whole' && !reply.content.startsWith(said)) throw takenOver(turn);
  yield* replayed(turn, reply, said);
}

/** A reply that stands, told in place of one that is made. */
function* replayed(turn: Turn, reply: Message, said: string): Generator<ChatEvent> {
  const rest = reply.content.startsWith(said) ? reply.content.slice(said.length) : '';
  if (rest !== '' || said === '') yield { event: 'delta', data: { text: rest } };
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
  const told = {
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
  const data: ChatReply = { ...told, turns_left_out };
  return { event: 'done', data, body: resultOf(turns_left_out === 0 ? told : data).body };
}
