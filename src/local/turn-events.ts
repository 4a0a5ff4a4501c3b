// The events of a turn for its caller, apart from the chunks of the reply.
import type { ChatEvent, ChatReply } from '../service/chat-event.ts';
import { resultOf } from '../service/result.ts';
import type { Message } from '../service/session.ts';
import type { Turn } from '../store/session-store.ts';

export function sessionEvent({ session_id, message_id, mode }: Turn): ChatEvent {
  return { event: 'session', data: { session_id, message_id, mode } };
}

/** A stored reply, sent in place of a new one. `sent`: the text that the caller has already. */
export function* replayedEvents(turn: Turn, reply: Message, sent: string): Generator<ChatEvent> {
  const rest = reply.content.startsWith(sent) ? reply.content.slice(sent.length) : '';
  if (rest !== '' || sent === '') yield { event: 'delta', data: { text: rest } };
  yield doneEvent(turn, {
    turns_left_out: 0,
    message_count: reply.position + 1,
    ...reply,
    finish_reason: reply.finish_reason ?? 'stop',
  });
}

type StoredReply = Omit<ChatReply, 'session_id' | 'reply'> & { readonly content: string };

export function doneEvent(turn: Turn, stored: StoredReply): ChatEvent {
  const reply = {
    session_id: turn.session_id,
    message_id: stored.message_id,
    mode: stored.mode,
    reply: stored.content,
    finish_reason: stored.finish_reason,
    created_at: stored.created_at,
    message_count: stored.message_count,
    usage: stored.usage,
  };
  const { turns_left_out, failure } = stored;
  const whole: ChatReply = Object.assign({}, reply, { turns_left_out });
  const data: ChatReply = failure === undefined ? whole : { ...whole, failure };
  return { event: 'done', data, body: resultOf(turns_left_out === 0 ? reply : whole).body };
}
