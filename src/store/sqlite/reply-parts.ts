// The stored parts of running replies. When the process of a turn is gone, they become its interrupted reply. If there is a reply already,
// they become an alternative to it. turn-taking.ts and abandoned-turns.ts decide when.
import type { ReplyPart, Turn } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { thisSession } from './sessions.ts';
import { sessionRow } from './turn-rows.ts';

export const partStatements = {
  // The answer to an earlier call with this place may have been lost.
  add: `
    INSERT INTO reply_parts (session, epoch, at, message_id, mode, created_at, content)
    SELECT id, @epoch, @at, @messageId, @mode, @now, @content FROM sessions WHERE ${thisSession}
    ON CONFLICT (session, epoch, at) DO UPDATE SET content = excluded.content`,
  ofTurn: `
    SELECT message_id, mode, created_at, content FROM reply_parts WHERE session = ${sessionRow} AND epoch = @epoch ORDER BY at`,
  remove: `DELETE FROM reply_parts WHERE session = ${sessionRow}`,
} as const;

/** The stored beginning of a reply. */
export interface StoredBeginning {
  readonly message_id: string;
  readonly mode: string;
  /** Epoch milliseconds. */
  readonly created_at: number;
  readonly content: string;
}

export function addPart(
  connection: Connection,
  projectId: string,
  { session_id: sessionId, epoch }: Turn,
  { message_id: messageId, ...part }: ReplyPart,
): void {
  connection.run(partStatements.add, { projectId, sessionId, epoch, messageId, ...part });
}

/** Removes the parts of a turn and returns what they make; null if nothing is stored. */
export function takeParts(
  connection: Connection,
  projectId: string,
  { session_id: sessionId, turn_epoch: epoch }: { readonly session_id: string; readonly turn_epoch: number },
): StoredBeginning | null {
  const parts = connection.all<StoredBeginning>(partStatements.ofTurn, { projectId, sessionId, epoch });
  const last = parts.at(-1);
  if (last === undefined) return null;
  removeParts(connection, projectId, sessionId);
  return { ...last, content: parts.map(({ content }) => content).join('') };
}

/** True if a part of any reply is stored. Mostly none is, and this costs less than to look for those of a session. */
export function hasParts(connection: Connection): boolean {
  return connection.get('SELECT 1 FROM reply_parts LIMIT 1') !== undefined;
}

export function removeParts(connection: Connection, projectId: string, sessionId: string): void {
  if (hasParts(connection)) connection.run(partStatements.remove, { projectId, sessionId });
}
