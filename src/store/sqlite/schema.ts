// The tables, as numbered migrations. A released migration is never changed. Rows have numbers inside the store and text ids outside it.
// Times are epoch milliseconds, except `turn_until` and `held_until` (lease-clock.ts) and `idempotency.created_at` (age-clock.ts).
import { replyParts } from './reply-parts-schema.ts';
import { retention } from './retention-schema.ts';
import { longWritesParted, searchFilledLate, searchWaitingByProject } from './search-schema.ts';
import { userOfSession } from './user-schema.ts';

export interface Migration {
  /** The number of the migration: 1 for the first, then without gaps. */
  readonly version: number;
  /** The first version of Parley that can use the resulting schema. */
  readonly parleyVersion: string;
  readonly sql: string;
}

// Columns that are read without the text come before `content`, because a long text has pages of its own. `sessions.message_count` is
// also the position of the next message. The turn_ columns are set while a turn runs; `turn_position` is the position of its message. Each
// session is in exactly one of the two partial indexes: active or deleted.
const first = `
  CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    project_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY,
    key_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    project INTEGER NOT NULL REFERENCES projects (id),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects (id),
    title TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    deleted_at INTEGER,
    turn_owner TEXT,
    turn_until INTEGER,
    turn_position INTEGER,
    CHECK ((turn_owner IS NULL) = (turn_until IS NULL) AND (turn_owner IS NULL) = (turn_position IS NULL))
  ) STRICT;
  CREATE INDEX sessions_active ON sessions (project, updated_at) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted ON sessions (project, updated_at) WHERE deleted_at IS NOT NULL;

  CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    message_id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    mode TEXT NOT NULL,
    finish_reason TEXT CHECK (finish_reason IN ('stop', 'length', 'interrupted', 'error')),
    input_tokens INTEGER,
    output_tokens INTEGER,
    created_at INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (session, position),
    CHECK ((role = 'user') = (finish_reason IS NULL)),
    CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
  ) STRICT;

  CREATE TABLE idempotency (
    project INTEGER NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    message INTEGER REFERENCES messages (id),
    answer TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, key),
    CHECK ((message IS NULL) <> (answer IS NULL))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_age ON idempotency (created_at);
`;

// When a row of `messages` is deleted, SQLite looks for answers that refer to it. Without this index it would scan the table.
const second = `
  CREATE INDEX idempotency_by_message ON idempotency (message) WHERE message IS NOT NULL;
`;

// The time to the first token of a reply, and why a reply failed. The index holds every column that usage reports read, so they read no
// text.
const third = `
  ALTER TABLE messages ADD COLUMN first_token_ms INTEGER;
  ALTER TABLE messages ADD COLUMN error_code TEXT;
  CREATE INDEX replies_by_time ON messages
    (created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms)
    WHERE role = 'assistant';
`;

// Indexes by creation time. An activity changes nothing in them, so a turn pays nothing for them.
const fifth = `
  CREATE INDEX sessions_active_created ON sessions (project, created_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted_created ON sessions (project, created_at, session_id) WHERE deleted_at IS NOT NULL;
`;

// `turn_epoch` counts how often a turn of the session was taken, which distinguishes the holder from a former one. From this version on
// `turn_until` is a time of the clock in lease-clock.ts. Older values are times of day and count as over by that clock.
const sixth = `
  ALTER TABLE sessions ADD COLUMN turn_epoch INTEGER NOT NULL DEFAULT 0;
`;

// The id of a session is unique in its project, not in the store. A look-up takes the same path for an id of another project as for an
// unknown id, so neither its time nor the answer of an import distinguishes the two. SQLite cannot drop a UNIQUE of a column, so the table
// is rebuilt with the columns of all versions before. The row numbers stay, so messages still belong to their sessions; migrations.ts
// switches foreign keys off meanwhile.
const sessionColumns = `id, session_id, project, title, created_at, updated_at, message_count, deleted_at, turn_owner,
  turn_until, turn_position, turn_epoch`;
const seventh = `
  CREATE TABLE sessions_before AS SELECT ${sessionColumns} FROM sessions ORDER BY id;
  DROP TABLE sessions;
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES projects (id),
    title TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    deleted_at INTEGER,
    turn_owner TEXT,
    turn_until INTEGER,
    turn_position INTEGER,
    turn_epoch INTEGER NOT NULL DEFAULT 0,
    CHECK ((turn_owner IS NULL) = (turn_until IS NULL) AND (turn_owner IS NULL) = (turn_position IS NULL))
  ) STRICT;
  INSERT INTO sessions (${sessionColumns}) SELECT ${sessionColumns} FROM sessions_before ORDER BY rowid;
  DROP TABLE sessions_before;
  CREATE UNIQUE INDEX sessions_by_id ON sessions (project, session_id);
  CREATE INDEX sessions_active ON sessions (project, updated_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted ON sessions (project, updated_at, session_id) WHERE deleted_at IS NOT NULL;
  CREATE INDEX sessions_active_created ON sessions (project, created_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted_created ON sessions (project, created_at, session_id) WHERE deleted_at IS NOT NULL;
`;

// The settings of a session. `mode` is that of its last turn, or null if that turn began before this version. `parameters` is JSON, or null
// for none.
const tenth = `
  ALTER TABLE sessions ADD COLUMN mode TEXT;
  ALTER TABLE sessions ADD COLUMN parent_id TEXT;
  ALTER TABLE sessions ADD COLUMN forked_at INTEGER;
  ALTER TABLE sessions ADD COLUMN parameters TEXT;
  ALTER TABLE sessions ADD COLUMN system TEXT;
`;

// Messages outside the visible line of their session: replies that another reply replaced, and undone turns. Why they have a table of their
// own: docs/decisions/2026-11-23-hidden-messages.md. A message keeps its position and its id when it moves; an idempotency key moves with
// its message. `undone_turns` counts the undone turns that can be brought back. `copied` marks the copies in a fork, which count in no
// usage report. `reply_id` names the reply that a regeneration makes.
const eleventh = `
  ALTER TABLE sessions ADD COLUMN undone_turns INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE messages ADD COLUMN copied INTEGER;
  CREATE TABLE hidden_messages (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    message_id TEXT NOT NULL,
    alternative_of TEXT,
    undone_at INTEGER,
    role TEXT NOT NULL CHECK (role = iif(position % 2 = 0, 'user', 'assistant')),
    mode TEXT NOT NULL,
    finish_reason TEXT CHECK (finish_reason IN ('stop', 'length', 'interrupted', 'error')),
    input_tokens INTEGER,
    output_tokens INTEGER,
    first_token_ms INTEGER,
    error_code TEXT,
    copied INTEGER,
    created_at INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (session, position, message_id),
    CHECK ((alternative_of IS NULL) <> (undone_at IS NULL)),
    CHECK (alternative_of IS NULL OR role = 'assistant'),
    CHECK ((role = 'user') = (finish_reason IS NULL)),
    CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
  ) STRICT;

  ALTER TABLE idempotency RENAME TO idempotency_before;
  CREATE TABLE idempotency (
    project INTEGER NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    message INTEGER REFERENCES messages (id),
    hidden_message INTEGER REFERENCES hidden_messages (id),
    reply_id TEXT,
    answer TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, key),
    CHECK ((message IS NOT NULL) + (hidden_message IS NOT NULL) + (answer IS NOT NULL) = 1),
    CHECK (reply_id IS NULL OR answer IS NULL)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO idempotency (project, key, request_hash, message, answer, created_at)
    SELECT project, key, request_hash, message, answer, created_at FROM idempotency_before ORDER BY project, key;
  DROP TABLE idempotency_before;
  CREATE INDEX idempotency_by_age ON idempotency (created_at);
  CREATE INDEX idempotency_by_message ON idempotency (message) WHERE message IS NOT NULL;
  CREATE INDEX idempotency_by_hidden_message ON idempotency (hidden_message) WHERE hidden_message IS NOT NULL;

  DROP INDEX replies_by_time;
  CREATE INDEX replies_by_time ON messages
    (created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms, copied)
    WHERE role = 'assistant' AND copied IS NULL;
  CREATE INDEX hidden_replies_by_time ON hidden_messages
    (created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms, copied)
    WHERE role = 'assistant' AND copied IS NULL;
`;

// How users keep order. `tags` is a JSON list, null for none; `session_tags` has the same tags, for the filter by a tag. A listing leaves
// archived sessions out, so they have indexes of their own. Each session is still in exactly one index by activity, and in one by
// creation, so a turn writes no more than before. The mode in them is for the filter by a mode.
const twelfth = `
  ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN tags TEXT;
  CREATE TABLE session_tags (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    project INTEGER NOT NULL,
    PRIMARY KEY (session, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_tag ON session_tags (project, tag, session);
  CREATE INDEX sessions_pinned ON sessions (project, pinned) WHERE pinned = 1;
  DROP INDEX sessions_active;
  DROP INDEX sessions_active_created;
  CREATE INDEX sessions_active ON sessions (project, updated_at, session_id, mode)
    WHERE deleted_at IS NULL AND archived = 0;
  CREATE INDEX sessions_archived ON sessions (project, updated_at, session_id, mode)
    WHERE deleted_at IS NULL AND archived = 1;
  CREATE INDEX sessions_active_created ON sessions (project, created_at, session_id, mode)
    WHERE deleted_at IS NULL AND archived = 0;
  CREATE INDEX sessions_archived_created ON sessions (project, created_at, session_id, mode)
    WHERE deleted_at IS NULL AND archived = 1;
`;

// The limits of a key, null for none, and the hour of its last use. `key_usage` counts the turns and tokens of keys that have a budget;
// `day` is the number of days since 1970 in UTC. The audit log is the chain `audit`, and the entries that wait to be chained. `audit_head` in
// `meta` has the number and the hash of the last one of the chain.
const limitsAndAudit = `
  ALTER TABLE api_keys ADD COLUMN scope TEXT CHECK (scope IN ('read', 'chat', 'admin'));
  ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
  ALTER TABLE api_keys ADD COLUMN turns_per_day INTEGER;
  ALTER TABLE api_keys ADD COLUMN tokens_per_day INTEGER;
  ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
  CREATE TABLE key_usage (
    key INTEGER NOT NULL REFERENCES api_keys (id),
    day INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit_waiting (
    id INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT;
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
`;

export const schema: readonly Migration[] = [
  { version: 1, parleyVersion: '0.1.0', sql: first },
  { version: 2, parleyVersion: '0.1.0', sql: second },
  { version: 3, parleyVersion: '0.1.0', sql: third },
  { version: 4, parleyVersion: '0.1.0', sql: searchFilledLate },
  { version: 5, parleyVersion: '0.1.0', sql: fifth },
  { version: 6, parleyVersion: '0.1.0', sql: sixth },
  { version: 7, parleyVersion: '0.1.0', sql: seventh },
  { version: 8, parleyVersion: '0.1.0', sql: longWritesParted },
  { version: 9, parleyVersion: '0.1.0', sql: searchWaitingByProject },
  { version: 10, parleyVersion: '0.1.0', sql: tenth },
  { version: 11, parleyVersion: '0.1.0', sql: eleventh },
  { version: 12, parleyVersion: '0.1.0', sql: twelfth },
  { version: 13, parleyVersion: '0.1.0', sql: limitsAndAudit },
  { version: 14, parleyVersion: '0.1.0', sql: `${userOfSession};${retention}` },
  { version: 15, parleyVersion: '0.1.0', sql: replyParts },
];
