// A stored session that an import continues: its visible line is the beginning of the imported one, and there is no hidden message after its end.
import type { Message, Session } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';

/** The messages to add; null if the record is no longer than the session. */
export function addedMessages(kept: Session, { messages }: SessionRecord): readonly Message[] | null {
  return messages.length > kept.message_count && kept.message_count > 0
    ? messages.slice(kept.message_count)
    : null;
}

/** True if a stored message is the imported one. Its mode and time may have been unknown at the first import. */
export function isBeginning(kept: Message, given: Message | undefined): boolean {
  return (
    given !== undefined &&
    kept.message_id === given.message_id &&
    kept.role === given.role &&
    kept.content === given.content
  );
}
