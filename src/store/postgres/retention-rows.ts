// The SQL of retention in PostgreSQL: which sessions expire, and the rows of policies and runs.
import { auditing } from './audit.ts';
import { leaseEnd, noTurnRuns } from './servers.ts';
import { ofProject, projectNumber } from './sessions.ts';
import { nowMs, statement } from './statement.ts';

/** How many sessions a step of a count reads, and a step of a run. */
const countedAtOnce = 20_000;
export const expiredAtOnce = 1000;

/** The condition for the row of the project in `parley.retention`. */
const thisPolicy = `project = ${projectNumber}`;

/** SQL for a statement's WITH: renews the lease of a run. No row if it is gone. */
export const holding = (holder: string, leaseMs: string) => `
  held AS (
    UPDATE parley.retention SET runner_until = ${leaseEnd(`${leaseMs}::integer`)}
    WHERE ${thisPolicy} AND runner = ${holder}::text
    RETURNING 1
  )`;

// $2: a session that was restored at this time or later does not expire. $3, $4: a place; $5, $6: the end of the filter.
const expires = `
  NOT session.pinned AND session.expired IS NULL
  AND (session.restored_at IS NULL OR session.restored_at < $2)
  AND ${noTurnRuns}`;
const inReach = (archived: boolean) => `
  ${ofProject} AND session.deleted_at IS NULL AND ${archived ? '' : 'NOT'} session.archived
  AND (session.updated_at, session.session_id) > ($3::bigint, $4::text COLLATE "C")
  AND (session.updated_at, session.session_id) < ($5::bigint, $6::text COLLATE "C")`;
const lot = (archived: boolean, size: number) => `
  lot AS MATERIALIZED (
    SELECT session.id, session.updated_at, session.session_id, ${expires} AS expires FROM parley.sessions AS session
    WHERE ${inReach(archived)} ORDER BY session.updated_at, session.session_id LIMIT ${size}
  )`;
const lastOfLot = `
  (SELECT count(*) FROM lot) AS found,
  (SELECT updated_at FROM lot ORDER BY updated_at DESC, session_id DESC LIMIT 1) AS time,
  (SELECT session_id FROM lot ORDER BY updated_at DESC, session_id DESC LIMIT 1) AS session_id`;

const inOrderOf = (archived: boolean) => ({
  count: statement(`
    WITH ${lot(archived, countedAtOnce)}
    SELECT count(*) FILTER (WHERE expires) AS sessions, ${lastOfLot} FROM lot`),
  // The rows are locked in the order of their numbers, as deletions lock them. A row whose session became active meanwhile is left.
  expire: statement(`
    WITH ${holding('$9', '$10')}, ${lot(archived, expiredAtOnce)}, next AS MATERIALIZED (
      SELECT session.id FROM parley.sessions AS session
      WHERE session.id = ANY (ARRAY(SELECT id FROM lot WHERE expires)) AND EXISTS (SELECT 1 FROM held)
        AND ${inReach(archived)} AND ${expires}
      ORDER BY session.id FOR UPDATE
    ), gone AS (
      UPDATE parley.sessions AS session SET deleted_at = $7, expired = $8
      WHERE session.id = ANY (ARRAY(SELECT id FROM next)) RETURNING session_id
    ), counted AS (
      UPDATE parley.retention_runs SET expired = expired + (SELECT count(*) FROM gone),
        last_at = greatest(last_at, $7)
      WHERE id = $8 AND EXISTS (SELECT 1 FROM gone)
    ), ${auditing('gone', '$11')}
    SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM gone) AS sessions, ${lastOfLot}`),
  newest: statement(`
    SELECT session.updated_at AS time, session.session_id AS "sessionId" FROM parley.sessions AS session
    WHERE ${ofProject} AND session.deleted_at IS NULL AND ${archived ? '' : 'NOT'} session.archived
    ORDER BY session.updated_at DESC, session.session_id DESC LIMIT $2`),
});

export const expiryStatements = { listed: inOrderOf(false), archived: inOrderOf(true) } as const;

const runColumns = `
  run.id, run.batch, projects.project_id, projects.name AS project_name, run.begun_at, run.ended_at, run.expired,
  run.erased, run.restored, run.restored_at`;
const runs = 'parley.retention_runs AS run JOIN parley.projects ON projects.id = run.project';

export const retentionStatements = {
  now: statement(`SELECT ${nowMs} AS now`),
  policies: statement(`
    SELECT project_id, name AS project_name, policy, confirmed, set_at, last_run_at
    FROM parley.retention JOIN parley.projects ON projects.id = retention.project ORDER BY project_id`),
  set: statement(`
    INSERT INTO parley.retention (project, policy, set_at)
    SELECT id, $2, $3 FROM parley.projects WHERE project_id = $1
    ON CONFLICT (project) DO UPDATE SET policy = excluded.policy, set_at = excluded.set_at,
      runner = NULL, runner_until = NULL
    RETURNING 1`),
  remove: statement(`DELETE FROM parley.retention WHERE ${thisPolicy} RETURNING 1`),
  activityFrom: statement(`
    SELECT session.updated_at AS time FROM parley.sessions AS session
    WHERE ${ofProject} AND session.deleted_at IS NULL AND NOT session.archived AND session.updated_at >= $2
      AND NOT session.pinned
    ORDER BY session.updated_at, session.session_id LIMIT 1`),
  lastActivity: statement(`
    SELECT session.updated_at AS time FROM parley.sessions AS session
    WHERE ${ofProject} AND session.deleted_at IS NULL AND NOT session.archived
      AND session.updated_at > $2 AND session.updated_at <= $3
    ORDER BY session.updated_at DESC, session.session_id DESC LIMIT 1`),
  state: statement(`
    SELECT policy, last_run_at, runner, runner IS NOT DISTINCT FROM $2 AS is_own,
      runner <> $2 AND runner_until > clock_timestamp() AS is_held
    FROM parley.retention WHERE ${thisPolicy} FOR UPDATE`),
  take: statement(`
    UPDATE parley.retention SET confirmed = policy, last_run_at = $2, runner = $3, runner_until = ${leaseEnd('$4::integer')}
    WHERE ${thisPolicy}`),
  release: statement(`
    UPDATE parley.retention SET runner = NULL, runner_until = NULL WHERE ${thisPolicy} AND runner = $2 RETURNING 1`),
  unfinished: statement(`
    SELECT ${runColumns} FROM ${runs} WHERE projects.project_id = $1 AND run.ended_at IS NULL ORDER BY run.id`),
  begin: statement(`
    INSERT INTO parley.retention_runs (batch, project, begun_at, last_at)
    SELECT $2, id, $3, $3 FROM parley.projects WHERE project_id = $1 RETURNING id`),
  run: statement(`SELECT ${runColumns} FROM ${runs} WHERE run.id = $1`),
  runs: statement(`SELECT ${runColumns} FROM ${runs} ORDER BY run.id DESC`),
  end: statement('UPDATE parley.retention_runs SET ended_at = $2 WHERE id = $1'),
  forget: statement('DELETE FROM parley.retention_runs WHERE id = $1 AND expired = 0 AND erased = 0'),
  restorable: statement(`
    SELECT count(*) AS sessions FROM parley.sessions AS session
    WHERE session.expired = $1 AND session.deleted_at IS NOT NULL`),
  restore: statement(`
    WITH next AS MATERIALIZED (
      SELECT session.id FROM parley.sessions AS session
      WHERE session.expired = $1 AND session.deleted_at IS NOT NULL
      ORDER BY session.id LIMIT ${expiredAtOnce} FOR UPDATE
    ), back AS (
      UPDATE parley.sessions AS session SET deleted_at = NULL, expired = NULL, restored_at = $2
      WHERE session.id = ANY (ARRAY(SELECT id FROM next)) RETURNING session_id
    ), counted AS (
      UPDATE parley.retention_runs SET restored = restored + (SELECT count(*) FROM back), restored_at = $2
      WHERE id = $1 AND EXISTS (SELECT 1 FROM back)
    ), ${auditing('back', '$3')}
    SELECT count(*) AS sessions FROM back`),
} as const;
