// A stored session that an import continues: its visible line is the beginning of the imported one, and there is no hidden message after
// its end.
import type { Message, Session } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';

/** The messages to add; null if the record is no longer than the session. */
export function addedMessages(stored: Session, { messages }: SessionRecord): readonly Message[] | null {
  return messages.length > stored.message_count && stored.message_count > 0
    ? messages.slice(stored.message_count)
    : null;
}

/** True if a stored message is the imported one. Its mode and time may have been unknown at the first import. */
export function isSameMessage(stored: Message, imported: Message | undefined): boolean {
  return (
    imported !== undefined &&
    stored.message_id === imported.message_id &&
    stored.role === imported.role &&
    stored.content === imported.content
  );
}
