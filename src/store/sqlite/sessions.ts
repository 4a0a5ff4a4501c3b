// Single sessions: created, read, changed, deleted and restored. Every statement names its project.
import { toTime } from '../../service/iso-time.ts';
import type { DeletedSession, NewSession, Session } from '../../service/session.ts';
import type { BatchItem, SessionChanges } from '../../service/session-archive.ts';
import type { SessionRow } from '../rows.ts';
import { parametersText, toSession } from '../rows.ts';
import type { SessionStart } from '../session-store.ts';
import type { Connection } from './connection.ts';

// A session whose last turn is older than the column `mode` has its mode from the last message of the user. A message with a slash in its
// id comes from another program, so its mode is not a mode of this service (isFromElsewhere in service/session.ts).
export const modeOfSession = `coalesce(sessions.mode, (
    SELECT asked.mode FROM messages AS asked
    WHERE asked.session = sessions.id AND asked.position = (sessions.message_count - 1) / 2 * 2
      AND instr(asked.message_id, '/') = 0))`;
export const sessionColumns = `session_id, title, created_at, updated_at, message_count, parent_id, forked_at,
  parameters, system, pinned, archived, tags, user_id, ${modeOfSession} AS mode`;

/** The values of `sessionColumns`, in their order. */
type SessionValues = readonly [
  session_id: string,
  title: string | null,
  created_at: number,
  updated_at: number,
  message_count: number,
  parent_id: string | null,
  forked_at: number | null,
  parameters: string | null,
  system: string | null,
  pinned: number,
  archived: number,
  tags: string | null,
  user_id: string | null,
  mode: string | null,
];

/** SQL: the row number of the project with the id `@projectId`. */
export const projectNumber = '(SELECT id FROM projects WHERE project_id = @projectId)';
/** The condition of every statement on sessions, and on other tables with a column `project`. */
export const inProject = `project = ${projectNumber}`;
/** The condition for one session, active or deleted. */
export const thisSession = `${inProject} AND session_id = @sessionId`;

const restored = (now: string) => `
  UPDATE sessions SET deleted_at = NULL, expired = NULL, restored_at = iif(deleted_at IS NULL, restored_at, ${now})`;

export const sessionStatements = {
  create: `
    INSERT INTO sessions (session_id, project, title, created_at, updated_at, parameters, system, user_id)
    VALUES (@sessionId, ${projectNumber}, @title, @now, @now, @parameters, @system, @user)`,
  // The first message follows in the same transaction. A separate update would change several indexes again.
  createWithTurn: `
    INSERT INTO sessions (session_id, project, title, created_at, updated_at, parameters, system, user_id,
      message_count, turn_owner, turn_until, turn_position, turn_epoch, mode)
    VALUES (@sessionId, ${projectNumber}, @title, @now, @now, @parameters, @system, @user,
      1, @owner, @until, 0, 1, @mode)`,
  find: `SELECT ${sessionColumns} FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  holds: `SELECT 1 FROM sessions WHERE ${thisSession}`,
  change: `
    UPDATE sessions SET title = iif(@setsTitle, @title, title), system = iif(@setsSystem, @system, system),
      parameters = iif(@setsParameters, @parameters, parameters), user_id = iif(@setsUser, @user, user_id)
    WHERE ${thisSession} AND deleted_at IS NULL RETURNING ${sessionColumns}`,
  delete: `UPDATE sessions SET deleted_at = @now WHERE ${thisSession} AND deleted_at IS NULL`,
  restore: `${restored('@now')} WHERE ${thisSession} RETURNING ${sessionColumns}`,
  project: 'SELECT id FROM projects WHERE project_id = @projectId',
} as const;

/** For many sessions. The values: the time, the row number that {@link sessionStatements.project} has returned, and the session's id. */
export const bulkStatements = {
  delete: 'UPDATE sessions SET deleted_at = ? WHERE project = ? AND session_id = ? AND deleted_at IS NULL',
  restore: `${restored('?')} WHERE project = ? AND session_id = ?`,
} as const;

export function createSession(connection: Connection, projectId: string, session: SessionStart): NewSession {
  const { session_id, title, now } = session;
  connection.run(sessionStatements.create, startBindings(projectId, session));
  return { session_id, title, created_at: toTime(now), message_count: 0 };
}

/** Creates a session whose first message is about to be inserted, with the turn of this message. `until`: the end of its lease. */
export function createSessionWithTurn(
  connection: Connection,
  projectId: string,
  session: SessionStart,
  { owner, until, mode }: { readonly owner: string; readonly until: number; readonly mode: string },
): void {
  const bindings = startBindings(projectId, session);
  connection.run(sessionStatements.createWithTurn, { owner, until, mode, ...bindings });
}

function startBindings(projectId: string, session: SessionStart) {
  const { session_id: sessionId, title, now, system = null, user = null } = session;
  return { projectId, sessionId, title, now, system, parameters: parametersText(session.parameters), user };
}

export function findSession(connection: Connection, projectId: string, sessionId: string): Session | null {
  const values = connection.values<SessionValues>(sessionStatements.find, { projectId, sessionId });
  if (values === undefined) return null;
  return toSession(rowOf(values));
}

function rowOf(values: SessionValues): SessionRow {
  return {
    session_id: values[0],
    title: values[1],
    created_at: values[2],
    updated_at: values[3],
    message_count: values[4],
    parent_id: values[5],
    forked_at: values[6],
    parameters: values[7],
    system: values[8],
    pinned: values[9],
    archived: values[10],
    tags: values[11],
    user_id: values[12],
    mode: values[13],
  };
}

export function holdsAny(connection: Connection, projectId: string, sessionIds: readonly string[]): boolean {
  return sessionIds.some(
    (sessionId) => connection.get(sessionStatements.holds, { projectId, sessionId }) !== undefined,
  );
}

/** Changes the title, the settings and the user. */
export function changeTexts(
  connection: Connection,
  projectId: string,
  sessionId: string,
  { title, system, parameters, user }: SessionChanges,
): Session | null {
  const row = connection.get<SessionRow>(sessionStatements.change, {
    ...{ projectId, sessionId, title: title ?? null, system: system ?? null, user: user ?? null },
    parameters: parametersText(parameters),
    setsTitle: Number(title !== undefined),
    setsSystem: Number(system !== undefined),
    setsParameters: Number(parameters !== undefined),
    setsUser: Number(user !== undefined),
  });
  return row === undefined ? null : toSession(row);
}

export function deleteSession(
  connection: Connection,
  projectId: string,
  sessionId: string,
  now: number,
): DeletedSession | null {
  const { changes } = connection.run(sessionStatements.delete, { projectId, sessionId, now });
  return changes === 0 ? null : { session_id: sessionId, deleted_at: toTime(now) };
}

export function restoreSession(
  connection: Connection,
  projectId: string,
  sessionId: string,
  now: number,
): Session | null {
  const row = connection.get<SessionRow>(sessionStatements.restore, { projectId, sessionId, now });
  return row === undefined ? null : toSession(row);
}

export function deleteSessions(
  connection: Connection,
  projectId: string,
  sessionIds: readonly string[],
  now: number,
): readonly BatchItem<'deleted'>[] {
  const project = projectRow(connection, projectId);
  return sessionIds.map((session_id) => {
    const { changes } = connection.runValues(bulkStatements.delete, [now, project, session_id]);
    return { session_id, status: changes === 0 ? 'not_found' : 'deleted' };
  });
}

export function restoreSessions(
  connection: Connection,
  projectId: string,
  sessionIds: readonly string[],
  now: number,
): readonly BatchItem<'restored'>[] {
  const project = projectRow(connection, projectId);
  return sessionIds.map((session_id) => {
    const { changes } = connection.runValues(bulkStatements.restore, [now, project, session_id]);
    return { session_id, status: changes === 0 ? 'not_found' : 'restored' };
  });
}

/** The row number of a project; null for an unknown one, which no session belongs to. */
function projectRow(connection: Connection, projectId: string): number | null {
  return connection.get<{ id: number }>(sessionStatements.project, { projectId })?.id ?? null;
}
