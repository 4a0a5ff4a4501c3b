// One turn: keep the message, stream the reply, keep the reply, or what there was of it. The two writes and their order are
// what "nothing said is ever lost" rests on: no engine is asked before the first, no `done` is said before the second.
import type { ReplyEngine } from '../engine/reply-engine.ts';
import { answer } from '../service/answer.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatReply, ChatRequest } from '../service/chat-event.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import type { FinishReason, Message, Usage } from '../service/session.ts';
import type { Once, Turn, TurnBegin } from '../store/session-store.ts';
import { asked } from './asking.ts';
import type { LocalOptions } from './local-options.ts';
import { lostReply } from './lost-reply.ts';
import { titleOf } from './text-rules.ts';

/** A lease outlives two missed renewals; a waiter's patience outlives a lease. */
const leaseMs = 15_000;
const renewalMs = 5_000;

export async function* exchange(
  local: LocalOptions,
  projectId: string,
  call: Call,
  request: ChatRequest,
  once: Once | null,
  engine: ReplyEngine,
): AsyncGenerator<ChatEvent> {
  const begin = await beginWhenFree(local, projectId, call, request, once);
  const { turn } = begin;
  if (begin.kind === 'answered') {
    yield* toldAgain(turn, begin.reply);
    return;
  }

  let text = '';
  let mode = turn.mode;
  let turnsLeftOut = 0;
  let askedAt = local.now();
  let firstTokenMs: number | null = null;
  let tried = false;
  let lost: ParleyError | null = null;
  const keep = async (
    finishReason: FinishReason,
    usage: Usage | null,
    errorCode: ErrorCode | null = null,
  ) => {
    tried = true;
    const now = local.now();
    const message = {
      message_id: local.ids.next('msg', now),
      content: text,
      finish_reason: finishReason,
      mode,
    };
    const ended = local.store.endTurn(projectId, turn, {
      ...message,
      usage,
      first_token_ms: firstTokenMs,
      error_code: errorCode,
      now,
    });
    const { message_count } = await ended.catch((error: unknown) => {
      lost = lostReply(error, turn);
      throw lost;
    });
    const created_at = new Date(now).toISOString();
    return done(turn, { ...message, usage, message_count, created_at, turns_left_out: turnsLeftOut });
  };
  const renewal = setInterval(() => {
    local.store.renewTurn(projectId, turn, local.now() + leaseMs).catch(() => {
      // A renewal that fails is followed by another; the lease runs on meanwhile.
    });
  }, renewalMs);
  renewal.unref();

  try {
    yield started(turn);
    for await (const event of asked(local, projectId, turn, engine, call)) {
      if (event.type === 'asked') {
        ({ mode, turnsLeftOut } = event);
        askedAt = local.now();
        continue;
      }
      if (event.type === 'finish') {
        const end = await keep(event.reason, event.usage);
        // Whoever got the last event may not ask for another, and then nothing below is reached.
        clearInterval(renewal);
        yield end;
        return;
      }
      firstTokenMs ??= Math.max(0, local.now() - askedAt);
      if (event.type === 'text') {
        text += event.text;
        yield { event: 'delta', data: { text: event.text } };
      } else if (event.text !== '') {
        yield { event: 'reasoning', data: { text: event.text } };
      }
    }
  } catch (error) {
    if (!tried) {
      if (call.signal.aborted) await keep('interrupted', null);
      else await keep('error', null, failure(error, turn).code);
    }
    // A reply that could not be kept outranks why it ended.
    if (lost !== null) throw lost;
    throw call.signal.aborted ? call.signal.reason : failure(error, turn);
  } finally {
    clearInterval(renewal);
    // Reached with nothing tried only when the consumer stopped reading.
    if (!tried) await keep('interrupted', null);
  }
}

/** A turn that is over, whose request came again. */
function* toldAgain(turn: Turn, reply: Message): Generator<ChatEvent> {
  yield started(turn);
  yield { event: 'delta', data: { text: reply.content } };
  yield done(turn, {
    ...reply,
    finish_reason: reply.finish_reason ?? 'stop',
    turns_left_out: 0,
    message_count: reply.position + 1,
  });
}

/** Takes the session's turn, waiting for the one before it to end. */
async function beginWhenFree(
  local: LocalOptions,
  projectId: string,
  call: Call,
  request: ChatRequest,
  once: Once | null,
): Promise<Extract<TurnBegin, { turn: Turn }>> {
  const patience = local.now() + local.limits.turnWaitMs;
  let gone: string | null = null;
  for (let pause = 10; ; pause = Math.min(pause * 2, 250)) {
    call.signal.throwIfAborted();
    const now = local.now();
    const start = {
      session_id: request.session_id,
      newSession: { session_id: local.ids.next('ses', now), title: titleOf(request.message) },
      message_id: local.ids.next('msg', now),
      closing_message_id: local.ids.next('msg', now),
      content: request.message,
      mode: request.mode,
      now,
      lease: { owner: local.owner.id, until: now + leaseMs },
      gone,
      once,
    };
    const begin = await local.store.beginTurn(projectId, start, call.signal);
    switch (begin.kind) {
      case 'begun':
      case 'answered':
        return begin;
      case 'not_found':
        throw sessionNotFound();
      case 'mismatch':
        throw idempotencyMismatch();
      case 'busy': {
        if (gone === null && local.owner.isGone(begin.owner)) {
          gone = begin.owner;
          continue;
        }
        gone = null;
        if (now >= patience) {
          throw new ParleyError('SESSION_BUSY', 'Another chat in this session has not ended yet.', {
            hint: 'Try again when its reply is complete.',
            retryAfter: 5,
          });
        }
        const { setTimeout: delay } = await import('node:timers/promises');
        await delay(pause, undefined, { signal: call.signal }).catch(() => call.signal.throwIfAborted());
      }
    }
  }
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
  return { event: 'done', data, body: answer(turns_left_out === 0 ? told : data).body };
}

/** What went wrong after the message was kept: it says where the message is. */
function failure(error: unknown, turn: Turn): ParleyError {
  const place = { session_id: turn.session_id, message_id: turn.message_id };
  const hint = `The message is kept in session ${turn.session_id}.`;
  if (!(error instanceof ParleyError)) {
    return new ParleyError('ENGINE_FAILED', 'The engine failed.', { ...place, hint, cause: error });
  }
  const { code, message, details, retryAfter } = error;
  return new ParleyError(code, message, {
    ...place,
    hint: `${hint} ${error.hint}`.trim(),
    details,
    ...(retryAfter !== null && { retryAfter }),
    cause: error,
  });
}

export function sessionNotFound(): ParleyError {
  return new ParleyError('SESSION_NOT_FOUND', 'There is no such session in this project.', {
    hint: 'It may be deleted, or belong to another project.',
  });
}

export function idempotencyMismatch(): ParleyError {
  return new ParleyError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another request.', {
    hint: 'Use a new key for a new request.',
  });
}
