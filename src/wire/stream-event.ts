// Reads one server-sent event of a chat. The client decides how the event affects the chat.
import { fieldOf, textOrNull } from '../http/foreign-json.ts';
import type { ParleyError } from '../service/errors.ts';
import { parseExactJson } from './exact-json.ts';
import { failureOfEvent } from './failure-body.ts';

export type StreamEvent =
  | {
      readonly kind: 'session';
      readonly sessionId: string | null;
      readonly messageId: string | null;
      readonly mode: string | null;
    }
  | { readonly kind: 'text'; readonly event: 'delta' | 'reasoning'; readonly text: string }
  /** The model is reasoning, without text for the user. */
  | { readonly kind: 'thinking' }
  | { readonly kind: 'done'; readonly body: unknown }
  | { readonly kind: 'error'; readonly error: ParleyError }
  /** An event with a known name, whose data cannot be read. */
  | { readonly kind: 'unreadable' };

/** Null for an event with an unknown name. */
export function readStreamEvent(event: string, text: string): StreamEvent | null {
  // In another vendor's API, an event of this name may have any data.
  if (event === 'thinking') return { kind: 'thinking' };
  if (!names.has(event)) return null;
  const body = parseExactJson(text);
  const data = fieldOf(body, 'data');
  const success = fieldOf(body, 'success');
  if (event === 'error' || success === false) return { kind: 'error', error: failureOfEvent(body) };
  if (success !== true) return { kind: 'unreadable' };
  switch (event) {
    case 'session':
      return {
        kind: 'session',
        sessionId: textOrNull(fieldOf(data, 'session_id')),
        messageId: textOrNull(fieldOf(data, 'message_id')),
        mode: textOrNull(fieldOf(data, 'mode')),
      };
    case 'delta':
    case 'reasoning': {
      const chunk = fieldOf(data, 'text');
      return typeof chunk === 'string' ? { kind: 'text', event, text: chunk } : { kind: 'unreadable' };
    }
    default:
      return { kind: 'done', body };
  }
}

const names: ReadonlySet<string> = new Set(['session', 'delta', 'reasoning', 'done', 'error']);
