// The SQL of retention in SQLite: which sessions expire, and the rows of policies and runs.
import { noTurnRuns } from './lease-clock.ts';
import { inProject } from './sessions.ts';

/** How many sessions a step of a count reads, and a statement of a run: a few milliseconds' work. */
export const countedAtOnce = 4000;
export const expiredAtOnce = 250;

const expires = `
  pinned = 0 AND expired IS NULL AND (restored_at IS NULL OR restored_at < @restoredBefore)
  AND ${noTurnRuns}`;

// SQLite searches the index by one bound over two columns alone, so the other bound is tested row by row.
const afterPlace = (archived: 0 | 1) => `
  FROM sessions WHERE ${inProject} AND deleted_at IS NULL AND archived = ${archived}
    AND (updated_at, session_id) > (@time, @sessionId)
  ORDER BY updated_at, session_id`;

/** `archived` is 0 for the sessions that a list shows. */
const inOrderOf = (archived: 0 | 1) => ({
  count: `
    SELECT count(*) AS sessions FROM (
      SELECT updated_at, session_id, ${expires} AS expires ${afterPlace(archived)} LIMIT ${countedAtOnce}
    ) WHERE expires AND (updated_at, session_id) < (@endTime, @endId)`,
  countEnd: `SELECT updated_at AS time, session_id AS sessionId ${afterPlace(archived)} LIMIT 1 OFFSET ${countedAtOnce - 1}`,
  next: `
    SELECT id, updated_at AS time, session_id AS sessionId, ${expires} AS expires ${afterPlace(archived)} LIMIT ${expiredAtOnce}`,
  newest: `
    SELECT updated_at AS time, session_id AS sessionId FROM sessions
    WHERE ${inProject} AND deleted_at IS NULL AND archived = ${archived}
    ORDER BY updated_at DESC, session_id DESC LIMIT @limit`,
});

const runColumns = `
  run.id, batch, projects.project_id, projects.name AS project_name, begun_at, ended_at, run.expired, erased, restored,
  run.restored_at`;
const runs = 'retention_runs AS run JOIN projects ON projects.id = run.project';

export const expiryStatements = { listed: inOrderOf(0), archived: inOrderOf(1) } as const;

export const retentionStatements = {
  policies: `
    SELECT project_id, name AS project_name, policy, confirmed, set_at, last_run_at
    FROM retention JOIN projects ON projects.id = retention.project ORDER BY project_id`,
  set: `
    INSERT INTO retention (project, policy, set_at)
    SELECT id, @policy, @now FROM projects WHERE project_id = @projectId
    ON CONFLICT (project) DO UPDATE SET policy = excluded.policy, set_at = excluded.set_at,
      runner = NULL, runner_until = NULL`,
  remove: `DELETE FROM retention WHERE ${inProject}`,
  activityFrom: `
    SELECT updated_at AS time FROM sessions
    WHERE ${inProject} AND deleted_at IS NULL AND archived = 0 AND updated_at >= @time AND pinned = 0
    ORDER BY updated_at LIMIT 1`,
  lastActivity: `
    SELECT max(updated_at) AS time FROM sessions
    WHERE ${inProject} AND deleted_at IS NULL AND archived = 0 AND updated_at > @after AND updated_at <= @until`,
  state: `SELECT policy, last_run_at, runner, runner_until FROM retention WHERE ${inProject}`,
  take: `
    UPDATE retention SET confirmed = policy, last_run_at = @now, runner = @holder, runner_until = @until
    WHERE ${inProject}`,
  hold: `UPDATE retention SET runner_until = @until WHERE ${inProject} AND runner = @holder`,
  release: `UPDATE retention SET runner = NULL, runner_until = NULL WHERE ${inProject} AND runner = @holder`,
  unfinished: `SELECT ${runColumns} FROM ${runs} WHERE project_id = @projectId AND ended_at IS NULL`,
  begin: `
    INSERT INTO retention_runs (batch, project, begun_at, last_at)
    SELECT @batch, id, @now, @now FROM projects WHERE project_id = @projectId`,
  run: `SELECT ${runColumns} FROM ${runs} WHERE run.id = @run`,
  runs: `SELECT ${runColumns} FROM ${runs} ORDER BY run.id DESC`,
  expire: `
    UPDATE sessions SET deleted_at = @now, expired = @run
    WHERE id IN (SELECT value FROM json_each(@ids))`,
  expired: `UPDATE retention_runs SET expired = expired + @sessions, last_at = max(last_at, @now) WHERE id = @run`,
  erased: `UPDATE retention_runs SET erased = erased + @sessions WHERE id = @run`,
  end: `UPDATE retention_runs SET ended_at = @now WHERE id = @run`,
  forget: `DELETE FROM retention_runs WHERE id = @run AND expired = 0 AND erased = 0`,
  // The runs that may have sessions to erase.
  erasableRuns: `
    SELECT id AS run, last_at FROM retention_runs WHERE ${inProject} AND begun_at < @deletedBefore ORDER BY id`,
  countErasable: `
    SELECT count(*) AS found, max(id) AS last,
      count(*) FILTER (WHERE deleted_at < @deletedBefore AND deleted_at <= @lastAt
        AND ${noTurnRuns}) AS sessions
    FROM (SELECT * FROM sessions WHERE expired = @run AND id > @after ORDER BY id LIMIT ${countedAtOnce})`,
  restorable: 'SELECT count(*) AS sessions FROM sessions WHERE expired = @run',
  restore: `
    UPDATE sessions SET deleted_at = NULL, expired = NULL, restored_at = @now
    WHERE id IN (SELECT id FROM sessions WHERE expired = @run LIMIT ${expiredAtOnce}) RETURNING session_id`,
  restored: `UPDATE retention_runs SET restored = restored + @sessions, restored_at = @now WHERE id = @run`,
} as const;
