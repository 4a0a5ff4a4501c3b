// All messages of an exported session in the order of reading: each visible message, then those outside the visible line at its place.
import type { Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';

export function messagesInOrder({
  messages,
  hidden_messages: hidden = [],
}: SessionRecord): readonly Message[] {
  if (hidden.length === 0) return messages;
  // The sort is stable, so the messages of one place keep this order.
  return [...messages, ...hidden].sort((one, other) => one.position - other.position);
}

/** What sets a message apart from the visible line; null for one of it. */
export function markOf({ alternative_of, undone_at }: Message): string | null {
  if (undone_at !== undefined) return `taken back ${undone_at}`;
  return alternative_of === undefined ? null : 'alternative';
}
