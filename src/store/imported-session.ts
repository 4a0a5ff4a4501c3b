// What an import stores. An imported session may continue a stored one: the visible line of the stored session is then the beginning of the
// imported line, and no hidden message comes after its end.
import { isFromElsewhere, type Message, type Session } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import { givenSettings } from './rows.ts';

/** The session as it is stored. Without a mode in the record it has that of its last turn, unless the turn comes from another program. */
export function importedSession({ session, messages }: SessionRecord): Session {
  const lastMessage = messages.findLast(({ role }) => role === 'user');
  const { system, parameters } = givenSettings(session);
  return {
    session_id: session.session_id,
    title: session.title,
    created_at: session.created_at,
    updated_at: session.updated_at,
    message_count: messages.length,
    mode:
      session.mode ?? (lastMessage === undefined || isFromElsewhere(lastMessage) ? null : lastMessage.mode),
    system,
    parameters,
    parent_id: session.parent_id ?? null,
    forked_at: session.forked_at ?? null,
    pinned: session.pinned ?? false,
    archived: session.archived ?? false,
    tags: session.tags ?? [],
    user: session.user ?? null,
  };
}

/** True for a message that a fork copied from its parent, or from a parent of that. Its usage is counted there. */
export function isCopy({ session }: SessionRecord, { position, created_at }: Message): boolean {
  return position <= (session.forked_at ?? -1) && created_at <= session.created_at;
}

/** The messages that continue the stored session; null if the record is no longer than it. */
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
