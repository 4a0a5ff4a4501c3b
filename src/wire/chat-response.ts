// Finds the session and the reply in the response to a chat. Servers put them in different places.
import { fieldOf, firstText, textOrNull } from '../http/foreign-json.ts';
import type { ChatReply } from '../service/chat-event.ts';
import { type FinishReason, finishReasons, type Usage } from '../service/session.ts';
import { valueAt } from './json-pointer.ts';

/** Null if the response names no session. */
export function sessionIdOf(body: unknown): string | null {
  const data = fieldOf(body, 'data');
  const session = fieldOf(data, 'session');
  return firstText(
    fieldOf(data, 'session_id'),
    fieldOf(body, 'session_id'),
    fieldOf(session, 'session_id'),
    fieldOf(session, 'id'),
  );
}

/** The mode that replied; null if the response does not name it. */
export function reportedMode(body: unknown): string | null {
  return textOrNull(fieldOf(fieldOf(body, 'data'), 'mode'));
}

const replyNames = ['reply', 'response', 'answer', 'message', 'content', 'text', 'output'] as const;

/**
 * Null if the response has no reply, or an empty one. If a profile names the place of the reply, `pointer` is this place, and no other is
 * tried.
 */
export function replyOf(body: unknown, pointer: readonly string[] | null): string | null {
  if (pointer !== null) return replyText(valueAt(body, pointer));
  const data = fieldOf(body, 'data');
  for (const place of [data, body]) {
    for (const name of replyNames) {
      const text = replyText(fieldOf(place, name));
      if (text !== null) return text;
    }
  }
  return textOrNull(data);
}

function replyText(value: unknown): string | null {
  return firstText(value, fieldOf(value, 'content'), fieldOf(value, 'text'));
}

/** The facts of a reply that are known. All others are read from the body; a field that a third-party server does not send is empty. */
export type KnownReply = Pick<ChatReply, 'session_id' | 'mode' | 'reply'>;

/** The reply of the event `done`. */
export function chatReply(known: KnownReply, body: unknown): ChatReply {
  const data = fieldOf(body, 'data');
  const count = fieldOf(data, 'message_count');
  const leftOut = fieldOf(data, 'turns_left_out');
  return {
    session_id: known.session_id,
    message_id: textOrNull(fieldOf(data, 'message_id')) ?? '',
    mode: reportedMode(body) ?? known.mode,
    reply: known.reply,
    finish_reason: finishReasonOf(fieldOf(data, 'finish_reason')),
    created_at: textOrNull(fieldOf(data, 'created_at')) ?? '',
    message_count: typeof count === 'number' ? count : 0,
    usage: usageOf(fieldOf(data, 'usage')),
    turns_left_out: typeof leftOut === 'number' ? leftOut : 0,
  };
}

function finishReasonOf(value: unknown): FinishReason {
  return finishReasons.find((reason) => reason === value) ?? 'stop';
}

function usageOf(value: unknown): Usage | null {
  const input_tokens = fieldOf(value, 'input_tokens');
  const output_tokens = fieldOf(value, 'output_tokens');
  return typeof input_tokens === 'number' && typeof output_tokens === 'number'
    ? { input_tokens, output_tokens }
    : null;
}
