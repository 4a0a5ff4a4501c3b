// What an import with `replaces` does with the messages of the stored session. No stored message is lost: each is in the record, visible or
// hidden, or in another session that is named.
import type { Message } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';

export interface Replacement {
  /** Messages that only the record has. */
  readonly added: readonly Message[];
  /** As the record has them: the stored ones are visible there and hidden here, or the other way round, or hidden for another reason. */
  readonly moved: readonly Message[];
  /** Stored messages that are not in the record. */
  readonly dropped: readonly Message[];
}

/** `stored`: all messages of the stored session, hidden ones included. */
export function replacementOf(
  stored: readonly Message[],
  { messages, hidden_messages = [] }: SessionRecord,
): Replacement {
  const importedById = new Map(
    [...messages, ...hidden_messages].map((message) => [message.message_id, message]),
  );
  const moved: Message[] = [];
  const dropped: Message[] = [];
  for (const message of stored) {
    const other = importedById.get(message.message_id);
    if (other === undefined || !isSameText(message, other)) {
      dropped.push(message);
      continue;
    }
    importedById.delete(message.message_id);
    const isMoved = message.alternative_of !== other.alternative_of || message.undone_at !== other.undone_at;
    if (isMoved) moved.push(other);
  }
  return { added: [...importedById.values()], moved, dropped };
}

/** The id of the other session that holds the dropped messages. Null if none is named, or if the replaced session itself is named. */
export function keptInSession({ session, replaces }: SessionRecord): string | null {
  const kept_in = replaces?.kept_in ?? null;
  return kept_in === session.session_id ? null : kept_in;
}

/** True if another session holds all dropped messages. */
export function areKeptElsewhere({ dropped }: Replacement, elsewhere: readonly Message[]): boolean {
  const elsewhereById = new Map(elsewhere.map((message) => [message.message_id, message]));
  return dropped.every((message) => {
    const other = elsewhereById.get(message.message_id);
    return other !== undefined && isSameText(message, other);
  });
}

function isSameText(one: Message, other: Message): boolean {
  return one.position === other.position && one.role === other.role && one.content === other.content;
}
