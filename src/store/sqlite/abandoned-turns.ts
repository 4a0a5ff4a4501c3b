// Ends abandoned turns, if a part of the reply is stored. A turn is abandoned if its process is gone, or could not store the end. If nothing
// is known of the process, the lease decides. A process that is only suspended keeps its turn. All abandoned turns end when a store is
// opened, so that listings, searches and copies have their replies. The turn of one session ends when its messages are read.
import { turnName } from '../session-store.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import { isLeaseOver } from './lease-clock.ts';
import { hasParts, takeParts } from './reply-parts.ts';
import { thisSession } from './sessions.ts';
import { StepMeter, type Steps } from './steps.ts';
import { findReply, type TurnRow, turnColumns, turnStatements } from './turn-rows.ts';
import { interruptedReply, keepAsAlternative } from './turn-taking.ts';
import type { Writer } from './writer.ts';

/** What the operating system says of the process with this name. */
export type OwnerState = 'running' | 'gone' | 'unknown';

export const abandonedStatements = {
  open: `
    SELECT ${turnColumns} FROM sessions
    WHERE ${thisSession} AND deleted_at IS NULL AND turn_owner IS NOT NULL AND EXISTS (
      SELECT 1 FROM reply_parts AS part WHERE part.session = sessions.id AND part.epoch = sessions.turn_epoch)`,
  end: `
    UPDATE sessions SET message_count = message_count + @added, updated_at = max(updated_at + 1, @now),
      turn_owner = NULL, turn_until = NULL, turn_position = NULL
    WHERE ${thisSession}`,
} as const;

/** The next session of which parts are stored, in the order of row numbers. */
const nextWithParts = `
  SELECT sessions.id AS session, session_id, project_id FROM sessions JOIN projects ON projects.id = sessions.project
  WHERE sessions.id = (SELECT min(session) FROM reply_parts WHERE session > @after)`;

export interface AbandonedTools extends Pick<Clocks, 'clock'> {
  readonly connection: Connection;
  readonly stateOf: (owner: string) => OwnerState;
  /** The turns of this process whose ends could not be stored ({@link turnName}). */
  readonly failedEnds: ReadonlySet<string>;
}

/** The turn of a session, if it is abandoned and a part of its reply is stored. */
export function abandonedTurn(
  { connection, clock, stateOf, failedEnds }: AbandonedTools,
  projectId: string,
  sessionId: string,
): TurnRow | null {
  if (!hasParts(connection)) return null;
  const row = connection.get<TurnRow>(abandonedStatements.open, { projectId, sessionId });
  if (row === undefined || row.turn_owner === null) return null;
  const state = stateOf(row.turn_owner);
  const isUnattended =
    state === 'unknown' || failedEnds.has(turnName({ session_id: sessionId, epoch: row.turn_epoch }));
  return state === 'gone' || (isUnattended && isLeaseOver(row.turn_until, clock)) ? row : null;
}

/** Ends the turn of a session if it is abandoned: its reply is what is stored of it, or that becomes an alternative. */
export function endAbandonedTurn(tools: AbandonedTools, projectId: string, sessionId: string): void {
  const { connection } = tools;
  const turn = abandonedTurn(tools, projectId, sessionId);
  const beginning = turn && takeParts(connection, projectId, turn);
  if (turn === null || beginning === null) return;
  const { turn_position: position } = turn;
  const hasReply = findReply(connection, projectId, { session_id: sessionId, position }) !== null;
  if (hasReply) {
    keepAsAlternative(connection, projectId, turn, beginning);
  } else {
    const reply = { ...interruptedReply(turn, beginning), role: 'assistant' };
    connection.run(turnStatements.addMessage, { projectId, sessionId, ...reply });
  }
  const now = beginning.created_at;
  connection.run(abandonedStatements.end, { projectId, sessionId, added: Number(!hasReply), now });
}

/** Ends all abandoned turns of a store. The next call repeats what fails here. */
export async function endAbandonedTurns(writer: Writer, tools: AbandonedTools): Promise<void> {
  try {
    const states = new Map<string, OwnerState>();
    const stateOf = (owner: string) => {
      const state = states.get(owner) ?? tools.stateOf(owner);
      states.set(owner, state);
      return state;
    };
    const sessions = abandonedSessions({ ...tools, stateOf });
    if (sessions.length > 0) await writer.writeInParts(endSteps({ ...tools, stateOf }, sessions));
  } catch {}
}

interface AbandonedSession {
  readonly project_id: string;
  readonly session_id: string;
}

function abandonedSessions(tools: AbandonedTools): readonly AbandonedSession[] {
  const found: AbandonedSession[] = [];
  for (let after = 0; ; ) {
    const row = tools.connection.get<AbandonedSession & { session: number }>(nextWithParts, { after });
    if (row === undefined) return found;
    after = row.session;
    // The project with an empty id holds the sessions that staged-session.ts hides.
    if (row.project_id === '') continue;
    if (abandonedTurn(tools, row.project_id, row.session_id) !== null) found.push(row);
  }
}

function* endSteps(tools: AbandonedTools, sessions: readonly AbandonedSession[]): Steps<void> {
  const step = new StepMeter();
  for (const { project_id, session_id } of sessions) {
    yield* step.next();
    endAbandonedTurn(tools, project_id, session_id);
  }
}
