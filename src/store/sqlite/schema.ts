// The tables, as numbered migrations: a released one is never changed, only followed. Rows are numbered inside and named by
// text ids outside; times are epoch milliseconds.

export interface Migration {
  /** 1 for the first, then without gaps. */
  readonly version: number;
  /** The first Parley that can use the schema that this makes. */
  readonly parleyVersion: string;
  readonly sql: string;
}

/** "PRLY", in the header of the file: what is not marked so is not a store, whatever its name. */
export const applicationId = 0x50524c59;

// Columns that are read without the text stand before `content`: a long text lies in pages of its own behind them.
// `sessions.message_count` is also the position of the next message. The turn_ columns are set while a turn runs;
// `turn_position` is that of its message. The two partial indexes hold each session once: active or deleted.
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

// What a reply took, and why it failed. The index holds all that usage is counted from, so that counting reads no text.
const replies = `
  ALTER TABLE messages ADD COLUMN first_token_ms INTEGER;
  ALTER TABLE messages ADD COLUMN error_code TEXT;
  CREATE INDEX replies_by_time ON messages
    (created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms)
    WHERE role = 'assistant';
`;

export const schema: readonly Migration[] = [
  { version: 1, parleyVersion: '0.1.0', sql: first },
  { version: 2, parleyVersion: '0.1.0', sql: replies },
];
