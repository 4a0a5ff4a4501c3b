// The migration for retention. `sessions.expired` names the run that deleted the session; a restoration clears it. To retention,
// `restored_at` is an activity. Turns change nothing in the partial index. A policy is JSON as text; `confirmed` is that of the last run.
// `runner` holds the lease of the project until `runner_until`, by the clock of the database. A run without `ended_at` was stopped or runs.
// A server with the earlier schema may restore and delete sessions without clearing `expired`. So a session that has it and is active does
// not expire, and one that was deleted after `last_at` of its run is not erased.
export const retention = `
  ALTER TABLE parley.sessions ADD COLUMN expired bigint, ADD COLUMN restored_at bigint;
  CREATE INDEX sessions_expired ON parley.sessions (expired) WHERE expired IS NOT NULL;
  CREATE TABLE parley.retention (
    project integer PRIMARY KEY,
    policy text COLLATE "C" NOT NULL,
    confirmed text COLLATE "C",
    set_at bigint NOT NULL,
    last_run_at bigint,
    runner text COLLATE "C",
    runner_until timestamptz,
    CHECK ((runner IS NULL) = (runner_until IS NULL))
  );
  CREATE TABLE parley.retention_runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch text COLLATE "C" NOT NULL UNIQUE,
    project integer NOT NULL,
    begun_at bigint NOT NULL,
    last_at bigint NOT NULL,
    ended_at bigint,
    expired bigint NOT NULL DEFAULT 0,
    erased bigint NOT NULL DEFAULT 0,
    restored bigint NOT NULL DEFAULT 0,
    restored_at bigint
  );
`;
