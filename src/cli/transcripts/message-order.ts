// The reading order of an exported session's messages: each visible message, followed by the hidden ones at the same position.
import type { Message } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';

export function messagesInOrder({
  messages,
  hidden_messages: hidden = [],
}: SessionRecord): readonly Message[] {
  if (hidden.length === 0) return messages;
  // The sort is stable, so messages at the same position keep this order.
  return [...messages, ...hidden].sort((one, other) => one.position - other.position);
}

/** Why a message is hidden; null for a visible message. */
export function markOf({ alternative_of, undone_at }: Message): string | null {
  if (undone_at !== undefined) return `undone ${undone_at}`;
  return alternative_of === undefined ? null : 'alternative';
}
