// The migration for retention. `sessions.expired` names the run that deleted the session; a restoration clears it. To retention,
// `restored_at` is an activity. Turns change nothing in the partial index. A policy is JSON; `confirmed` is that of the last run. `runner`
// holds the lease of the project until `runner_until`, a time of the clock in lease-clock.ts. A run without `ended_at` was stopped or runs.
export const retention = `
  ALTER TABLE sessions ADD COLUMN expired INTEGER;
  ALTER TABLE sessions ADD COLUMN restored_at INTEGER;
  CREATE INDEX sessions_expired ON sessions (expired) WHERE expired IS NOT NULL;
  CREATE TABLE retention (
    project INTEGER PRIMARY KEY REFERENCES projects (id),
    policy TEXT NOT NULL,
    confirmed TEXT,
    set_at INTEGER NOT NULL,
    last_run_at INTEGER,
    runner TEXT,
    runner_until INTEGER,
    CHECK ((runner IS NULL) = (runner_until IS NULL))
  ) STRICT;
  CREATE TABLE retention_runs (
    id INTEGER PRIMARY KEY,
    batch TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects (id),
    begun_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    ended_at INTEGER,
    expired INTEGER NOT NULL DEFAULT 0,
    erased INTEGER NOT NULL DEFAULT 0,
    restored INTEGER NOT NULL DEFAULT 0,
    restored_at INTEGER
  ) STRICT;
`;
