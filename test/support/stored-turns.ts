// Reads the contents of a store without the program, and checks the rules that hold whatever was killed.
import type { Place } from './parley.ts';

export interface StoredMessage {
  readonly session_id: string;
  readonly message_id: string;
  readonly position: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly finish_reason: string | null;
}

interface StoredSession {
  readonly session_id: string;
  readonly message_count: number;
  readonly turn_position: number | null;
}

export function storedMessages(place: Place): readonly StoredMessage[] {
  return place.rows<StoredMessage>(
    `SELECT session_id, message_id, position, role, content, finish_reason
     FROM messages JOIN sessions ON sessions.id = messages.session ORDER BY session_id, position`,
  );
}

/** The faults, as text, of a store in which every turn was in the mode `echo`. */
export function storeFaults(place: Place): readonly string[] {
  const bySession = new Map<string, StoredMessage[]>();
  for (const message of storedMessages(place)) {
    bySession.set(message.session_id, [...(bySession.get(message.session_id) ?? []), message]);
  }
  const sessions = place.rows<StoredSession>('SELECT session_id, message_count, turn_position FROM sessions');
  const integrity = place.rows<{ integrity_check: string }>('PRAGMA integrity_check');
  return [
    ...integrity.flatMap(({ integrity_check: said }) => (said === 'ok' ? [] : [`integrity: ${said}`])),
    ...sessions.flatMap((session) =>
      sessionFaults(session, bySession.get(session.session_id) ?? []).map(
        (fault) => `${session.session_id}: ${fault}`,
      ),
    ),
  ];
}

function sessionFaults(session: StoredSession, messages: readonly StoredMessage[]): readonly string[] {
  const faults = messages.flatMap((message, index) => messageFaults(message, index, messages[index - 1]));
  if (session.message_count !== messages.length) {
    faults.push(`message_count is ${session.message_count}, messages are ${messages.length}`);
  }
  const last = messages.at(-1);
  if (last?.role === 'user' && session.turn_position !== last.position) {
    faults.push(`message ${last.position} has no reply, and no turn runs`);
  }
  return faults;
}

function messageFaults(
  message: StoredMessage,
  index: number,
  before: StoredMessage | undefined,
): readonly string[] {
  const faults: string[] = [];
  if (message.position !== index) faults.push(`position ${message.position} stands at ${index}`);
  const role = index % 2 === 0 ? 'user' : 'assistant';
  if (message.role !== role) faults.push(`message ${index} is of the ${message.role}`);
  if (message.role === 'user') return faults;
  const question = before?.content ?? '';
  const isWhole = message.finish_reason === 'stop' && message.content === question;
  const isCut = message.finish_reason === 'interrupted' && question.startsWith(message.content);
  if (!isWhole && !isCut) faults.push(`reply ${index} (${message.finish_reason}) is not its message's`);
  return faults;
}
