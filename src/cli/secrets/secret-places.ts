// Finds where a session contains secrets: in its title, its settings and its messages.
import type { Message, Session } from '../../service/session.ts';
import { type FoundSecret, secretsIn } from './found-secrets.ts';

/** The place of a secret, without the secret itself. */
export interface SecretPlace {
  readonly session_id: string;
  /** Null for a place outside of messages. */
  readonly message_id: string | null;
  readonly position: number | null;
  readonly place: 'message' | 'title' | 'system' | 'parameters';
  /** In code points of the text, from 0; `end` is exclusive. The text of parameters is their JSON. */
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly prefix: string;
}

type Place = Omit<SecretPlace, 'start' | 'end' | 'kind' | 'prefix'>;

export function secretsOfSession(session: Partial<Session> & Pick<Session, 'session_id'>): SecretPlace[] {
  const { session_id, title, system, parameters } = session;
  const place = { session_id, message_id: null, position: null };
  return [
    ...placesIn(title ?? '', { ...place, place: 'title' }),
    ...placesIn(system ?? '', { ...place, place: 'system' }),
    ...placesIn(parameters === undefined ? '' : JSON.stringify(parameters), {
      ...place,
      place: 'parameters',
    }),
  ];
}

export function secretsOfMessage(session_id: string, message: Message): SecretPlace[] {
  const { message_id, position, content } = message;
  return placesIn(content, { session_id, message_id, position, place: 'message' });
}

function placesIn(text: string, place: Place): SecretPlace[] {
  return secretsIn(text).map(({ kind, start, end, prefix }: FoundSecret) => ({
    ...place,
    start: codePoints(text.slice(0, start)),
    end: codePoints(text.slice(0, end)),
    kind,
    prefix,
  }));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
