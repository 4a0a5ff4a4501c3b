// Single sessions: found, changed, deleted and restored (new-sessions.ts creates them). Every statement names its project.
import { toTime } from '../../service/iso-time.ts';
import { refusedKey } from '../../service/refused-key.ts';
import type { DeletedSession, Session } from '../../service/session.ts';
import type { BatchItem, SessionChanges } from '../../service/session-archive.ts';
import type { SessionRow } from '../rows.ts';
import { parametersText, toSession } from '../rows.ts';
import type { AuditOrigin, KeyHash } from '../session-store.ts';
import { auditing, noteOf } from './audit.ts';
import { byNumber, columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { accepted, hashValue, isRefused, refused } from './keys.ts';
import { statement } from './statement.ts';

/**
 * The mode of `parley.sessions AS session`. If its last turn is older than the column `mode`, the last message of the user has its mode. A
 * message with a slash in its id comes from another program, so its mode is not a mode of this service (isFromElsewhere in
 * service/session.ts).
 */
export const modeOfSession = `coalesce(session.mode, (
    SELECT asked.mode FROM parley.messages AS asked
    WHERE asked.session = session.id AND asked.position = (session.message_count - 1) / 2 * 2
      AND strpos(asked.message_id, '/') = 0))`;

/** The columns of `parley.sessions AS session` that make a session. */
export const sessionColumns = `
  session.session_id, session.title, session.created_at, session.updated_at, session.message_count, session.parent_id,
  session.forked_at, session.parameters, session.system, session.pinned, session.archived, session.tags,
  session.user_id, ${modeOfSession} AS mode`;

/** The names of {@link sessionColumns}, for a row that has these columns. */
export const sessionFields = `session_id, title, created_at, updated_at, message_count, parent_id, forked_at, parameters,
  system, pinned, archived, tags, user_id, mode`;

/** The bytes of the columns that may be long. */
export const settingsBytes = `(coalesce(octet_length(session.system), 0) + coalesce(octet_length(session.parameters), 0)
  + coalesce(octet_length(session.tags), 0))`;

/** SQL: the row number of the project, in a statement whose first value is the project's id. */
export const projectNumber = '(SELECT id FROM parley.projects WHERE project_id = $1)';
/** SQL for `parley.sessions AS session`: true for the sessions of this project. */
export const ofProject = `session.project = ${projectNumber}`;

const find = statement(`
  SELECT input.number, ${isRefused('input.key_hash', 'projects.id')} AS is_refused, ${sessionColumns}
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::bytea[]) AS input (number, project_id, session_id, key_hash)
  JOIN parley.projects USING (project_id)
  LEFT JOIN parley.sessions AS session ON session.project = projects.id AND session.session_id = input.session_id
    AND session.deleted_at IS NULL`);
const holds = statement(`
  SELECT 1 FROM parley.sessions AS session WHERE ${ofProject} AND session.session_id = ANY ($2::text[]) LIMIT 1`);
const change = statement(`
  UPDATE parley.sessions AS session SET title = CASE WHEN $3 THEN $4 ELSE session.title END,
    system = CASE WHEN $5 THEN $6 ELSE session.system END,
    parameters = CASE WHEN $7 THEN $8 ELSE session.parameters END,
    user_id = CASE WHEN $9 THEN $10 ELSE session.user_id END
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL RETURNING ${sessionColumns}`);
// Each session is looked up through the index. For a plain list of a thousand ids the planner would read the whole table. Rows are locked
// in the order of their numbers, so that two calls that name the same sessions cannot deadlock.
const locked = (condition: string) => `
  WITH found AS MATERIALIZED (
    SELECT place.id FROM unnest($2::text[]) AS input (session_id)
    CROSS JOIN LATERAL (
      SELECT session.id FROM parley.sessions AS session
      WHERE ${ofProject} AND session.session_id = input.session_id LIMIT 1
    ) AS place
  ), locked AS MATERIALIZED (
    SELECT session.id, session.session_id, session.deleted_at FROM parley.sessions AS session
    WHERE ${ofProject} AND session.id = ANY (ARRAY(SELECT id FROM found)) AND ${condition} ORDER BY session.id FOR UPDATE
  )`;
const isLocked = `${ofProject} AND session.id = ANY (ARRAY(SELECT id FROM locked))`;
const isKeyRefused = isRefused('$5::bytea', projectNumber);
const deleteFound = `
  ${locked(`session.deleted_at IS NULL AND NOT ${isKeyRefused}`)}
  UPDATE parley.sessions AS session SET deleted_at = $3, expired = NULL WHERE ${isLocked} RETURNING session.session_id`;
// $5: the hash of a key that is not checked yet, or null. A refused key adds a row without an id.
const deleteAll = statement(`
  WITH work AS (${deleteFound}), ${auditing('work', '$4')}
  SELECT session_id FROM work UNION ALL SELECT NULL WHERE ${isKeyRefused}`);
// After a lost connection: a session that was deleted at the time of this call was deleted by the first sending of the call.
const deleteAllAgain = statement(`
  WITH work AS (${deleteFound}), ${auditing('work', '$4')}
  SELECT session_id FROM work
  UNION
  SELECT session.session_id FROM parley.sessions AS session
  WHERE ${ofProject} AND session.session_id = ANY ($2::text[]) AND session.deleted_at = $3
  UNION
  SELECT NULL WHERE ${isKeyRefused}`);
const restoreLocked = `
  ${locked('true')}, work AS (
    UPDATE parley.sessions AS session SET deleted_at = NULL, expired = NULL,
      restored_at = CASE WHEN session.deleted_at IS NULL THEN session.restored_at ELSE $4::bigint END
    WHERE ${isLocked} RETURNING ${sessionColumns}
  )`;
const restoreAll = statement(`${restoreLocked}, ${auditing('work', '$3')} SELECT * FROM work`);
// After a lost connection: an active session may have been restored, and recorded, by the first sending of the call.
const restoreAllAgain = statement(`
  ${restoreLocked}, restored AS (
    SELECT session_id FROM locked WHERE deleted_at IS NOT NULL
  ), ${auditing('restored', '$3')} SELECT * FROM work`);

export interface NamedSession {
  readonly projectId: string;
  readonly sessionId: string;
  /** Null or absent if the key was checked before. */
  readonly keyHash?: KeyHash;
}

type FoundRow = { readonly number: number; readonly is_refused: boolean } & (
  | SessionRow
  | { readonly session_id: null }
);

export async function findSessions(
  ask: Ask,
  places: readonly NamedSession[],
): Promise<readonly (Session | null | typeof refused)[]> {
  const values = columnsOf(
    places,
    (place) => place.projectId,
    (place) => place.sessionId,
    (place) => hashValue(place.keyHash),
  );
  const rows = byNumber(await ask<FoundRow>(find, values));
  return places.map((_, number) => {
    const row = rows.get(number);
    if (row?.is_refused) return refused;
    return row === undefined || row.session_id === null ? null : toSession(row);
  });
}

export async function findSession(ask: Ask, projectId: string, sessionId: string): Promise<Session | null> {
  const [found = null] = await findSessions(ask, [{ projectId, sessionId }]);
  return accepted(found);
}

export async function holdsAny(ask: Ask, projectId: string, sessionIds: readonly string[]): Promise<boolean> {
  return (await ask(holds, [projectId, sessionIds])).length > 0;
}

/** Changes the title, the settings and the user. */
export async function changeTexts(
  ask: Ask,
  projectId: string,
  sessionId: string,
  { title, system, parameters, user }: SessionChanges,
): Promise<Session | null> {
  const [row] = await ask<SessionRow>(change, [
    ...[projectId, sessionId, title !== undefined, title ?? null, system !== undefined, system ?? null],
    ...[parameters !== undefined, parametersText(parameters), user !== undefined, user ?? null],
  ]);
  return row === undefined ? null : toSession(row);
}

export async function deleteSession(
  ask: Ask,
  projectId: string,
  sessionId: string,
  now: number,
  by?: AuditOrigin,
  keyHash: KeyHash = null,
): Promise<DeletedSession | null> {
  const [item] = await deleteSessions(ask, projectId, [sessionId], now, by, keyHash);
  return item?.status === 'deleted' ? { session_id: sessionId, deleted_at: toTime(now) } : null;
}

export async function restoreSession(
  ask: Ask,
  projectId: string,
  sessionId: string,
  now: number,
  by?: AuditOrigin,
): Promise<Session | null> {
  const note = noteOf('restore', projectId, by);
  const values = [projectId, [sessionId], note, now];
  const [row] = await ask<SessionRow>(restoreAll, values, restoreAllAgain);
  return row === undefined ? null : toSession(row);
}

/** `keyHash`: null if the key was checked before. Throws `INVALID_API_KEY` if the key is refused. */
export async function deleteSessions(
  ask: Ask,
  projectId: string,
  sessionIds: readonly string[],
  now: number,
  by?: AuditOrigin,
  keyHash: KeyHash = null,
): Promise<readonly BatchItem<'deleted'>[]> {
  const values = [projectId, sessionIds, now, noteOf('delete', projectId, by), hashValue(keyHash)];
  const rows = await ask<{ readonly session_id: string | null }>(deleteAll, values, deleteAllAgain);
  const deleted = new Set(rows.map(({ session_id }) => session_id));
  // The key of a call that is sent again may be revoked after the first sending.
  if (deleted.delete(null) && deleted.size === 0) throw refusedKey();
  // The second occurrence of an id is not found.
  return sessionIds.map((session_id) => ({
    session_id,
    status: deleted.delete(session_id) ? 'deleted' : 'not_found',
  }));
}

export async function restoreSessions(
  ask: Ask,
  projectId: string,
  sessionIds: readonly string[],
  now: number,
  by?: AuditOrigin,
): Promise<readonly BatchItem<'restored'>[]> {
  const values = [projectId, sessionIds, noteOf('restore', projectId, by), now];
  const rows = await ask<SessionRow>(restoreAll, values, restoreAllAgain);
  const restored = new Set(rows.map(({ session_id }) => session_id));
  return sessionIds.map((session_id) => ({
    session_id,
    status: restored.has(session_id) ? 'restored' : 'not_found',
  }));
}
