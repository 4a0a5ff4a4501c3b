// The tables of a store in PostgreSQL, as numbered migrations. A released migration is never changed. Times of the service are epoch
// milliseconds. Leases and the age of idempotency keys are times of the database, because all servers share its clock.
// Ids are compared byte by byte (COLLATE "C"), as in every store, so that pages have one order and cursors are valid everywhere.
// The schema uses no extension, trigger or function, so a user of a hosted database who may make a table may make this schema.
import { retention } from './retention-schema.ts';
import { userOfSession } from './user-schema.ts';

export interface Migration {
  /** The number of the migration: 1 for the first, then without gaps. */
  readonly version: number;
  /** The first version of Parley that can use the resulting schema. */
  readonly parleyVersion: string;
  readonly sql: string;
}

// No foreign key refers to `projects`, because it would lock the project's row at every insert. Each statement joins the project instead.
// `sessions.message_count` is also the position of the next message. The turn_ columns are set while a turn runs: `turn_position` is the
// position of its message; `turn_epoch` counts how often a turn of the session was taken. `to_index` names the messages whose words are not
// in `search` yet. `search.words` is null for a message with more words than an index takes.
const first = `
  CREATE TABLE parley.meta (
    name text PRIMARY KEY,
    value text NOT NULL
  );

  CREATE TABLE parley.projects (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id text COLLATE "C" NOT NULL UNIQUE,
    name text COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL
  );

  CREATE TABLE parley.api_keys (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_id text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    project integer NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint
  );

  CREATE TABLE parley.sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project integer NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    message_count integer NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    deleted_at bigint,
    turn_owner text,
    turn_until timestamptz,
    turn_position integer,
    turn_epoch integer NOT NULL DEFAULT 0,
    CHECK ((turn_owner IS NULL) = (turn_until IS NULL) AND (turn_owner IS NULL) = (turn_position IS NULL))
  ) WITH (fillfactor = 80);
  CREATE UNIQUE INDEX sessions_by_id ON parley.sessions (project, session_id);
  CREATE INDEX sessions_active ON parley.sessions (project, updated_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted ON parley.sessions (project, updated_at, session_id) WHERE deleted_at IS NOT NULL;
  CREATE INDEX sessions_active_created ON parley.sessions (project, created_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted_created ON parley.sessions (project, created_at, session_id)
    WHERE deleted_at IS NOT NULL;

  CREATE TABLE parley.messages (
    session bigint NOT NULL REFERENCES parley.sessions (id),
    position integer NOT NULL CHECK (position >= 0),
    message_id text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    mode text COLLATE "C" NOT NULL,
    finish_reason text CHECK (finish_reason IN ('stop', 'length', 'interrupted', 'error')),
    input_tokens bigint,
    output_tokens bigint,
    first_token_ms bigint,
    error_code text,
    created_at bigint NOT NULL,
    content text COLLATE "C" NOT NULL,
    PRIMARY KEY (session, position),
    CHECK ((role = 'user') = (finish_reason IS NULL)),
    CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
  );
  CREATE INDEX replies_by_time ON parley.messages (created_at)
    INCLUDE (session, mode, finish_reason, input_tokens, output_tokens, first_token_ms) WHERE role = 'assistant';

  CREATE TABLE parley.idempotency (
    project integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    session bigint,
    position integer,
    answer text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (project, key),
    CHECK ((session IS NULL) <> (answer IS NULL) AND (session IS NULL) = (position IS NULL))
  );
  CREATE INDEX idempotency_by_age ON parley.idempotency (created_at);
  CREATE INDEX idempotency_by_session ON parley.idempotency (session) WHERE session IS NOT NULL;

  CREATE TABLE parley.to_index (
    project integer NOT NULL,
    session bigint NOT NULL,
    position integer NOT NULL,
    bytes integer NOT NULL,
    PRIMARY KEY (project, session, position)
  );
  CREATE TABLE parley.search (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session bigint NOT NULL,
    position integer NOT NULL,
    created_at bigint NOT NULL,
    bytes integer NOT NULL,
    words tsvector,
    UNIQUE (session, position)
  );
  CREATE INDEX search_by_words ON parley.search USING gin (words);
  CREATE INDEX search_without_words ON parley.search (id) WHERE words IS NULL;
`;

// `servers` has one row per serving process, which its heartbeat renews. The server holds its turns until `until`; a server that has
// stopped has `-infinity`. Before `judges_from` a server takes no turn of another server. This gives the others the length of a lease to
// come back after an outage of the database. `reply_parts` holds the parts of running replies by their place in the text.
const servers = `
  CREATE TABLE parley.servers (
    owner text COLLATE "C" PRIMARY KEY,
    until timestamptz NOT NULL,
    judges_from timestamptz NOT NULL
  );
  CREATE TABLE parley.reply_parts (
    session bigint NOT NULL,
    epoch integer NOT NULL,
    at integer NOT NULL,
    message_id text COLLATE "C" NOT NULL,
    mode text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    content text COLLATE "C" NOT NULL,
    PRIMARY KEY (session, epoch, at)
  );
`;

// `modes.settings` is kept as text, which the database does not read. `modes_version` and `default_mode` (empty for none) are rows of
// `meta`, so that one table holds what every change of modes updates. A server with the earlier schema reads none of this.
const modes = `
  CREATE TABLE parley.modes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    settings text NOT NULL
  );
  INSERT INTO parley.meta (name, value) VALUES ('modes_version', 'none'), ('default_mode', '');
`;

// The settings of a session. `mode` is that of its last turn, or null if that turn began before this version. `parameters` is JSON, kept as
// text, which the database does not read; null for none.
const settings = `
  ALTER TABLE parley.sessions
    ADD COLUMN mode text COLLATE "C",
    ADD COLUMN parent_id text COLLATE "C",
    ADD COLUMN forked_at integer,
    ADD COLUMN parameters text,
    ADD COLUMN system text;
`;

// `hidden_messages` holds what is not in the visible line: alternatives name the message of the user that they answer, undone messages have
// the time of the undo. `undone_turns` counts the undone turns that can be brought back. `copied` marks the messages of a fork that are
// copies, which no report of usage counts. An idempotency key names its message, because another message may be at the position by now;
// a key that an earlier version recorded names the position alone. The key of a regeneration also names its reply.
const lines = `
  ALTER TABLE parley.sessions ADD COLUMN undone_turns integer NOT NULL DEFAULT 0 CHECK (undone_turns >= 0);
  ALTER TABLE parley.messages ADD COLUMN copied boolean NOT NULL DEFAULT false;
  ALTER TABLE parley.idempotency ADD COLUMN message_id text COLLATE "C";
  ALTER TABLE parley.idempotency ADD COLUMN reply_id text COLLATE "C";
  CREATE TABLE parley.hidden_messages (
    session bigint NOT NULL REFERENCES parley.sessions (id),
    position integer NOT NULL CHECK (position >= 0),
    message_id text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    mode text COLLATE "C" NOT NULL,
    finish_reason text CHECK (finish_reason IN ('stop', 'length', 'interrupted', 'error')),
    input_tokens bigint,
    output_tokens bigint,
    first_token_ms bigint,
    error_code text,
    created_at bigint NOT NULL,
    content text COLLATE "C" NOT NULL,
    copied boolean NOT NULL DEFAULT false,
    alternative_of text COLLATE "C",
    undone_at bigint,
    PRIMARY KEY (session, position, message_id),
    CHECK ((role = 'user') = (finish_reason IS NULL)),
    CHECK ((input_tokens IS NULL) = (output_tokens IS NULL)),
    CHECK ((alternative_of IS NULL) <> (undone_at IS NULL))
  );
  CREATE INDEX hidden_replies_by_time ON parley.hidden_messages (created_at)
    INCLUDE (session, mode, finish_reason, input_tokens, output_tokens, first_token_ms)
    WHERE role = 'assistant' AND NOT copied;
  DROP INDEX parley.replies_by_time;
  CREATE INDEX replies_by_time ON parley.messages (created_at)
    INCLUDE (session, mode, finish_reason, input_tokens, output_tokens, first_token_ms)
    WHERE role = 'assistant' AND NOT copied;
`;

// How users keep order. `tags` is a JSON list as text, null for none; `session_tags` has the same tags, for the filter by a tag. A listing
// leaves archived sessions out, so they have indexes of their own. Each session is still in exactly one index by activity, and in one by
// creation, so a turn writes no more than before. A server with the earlier schema lists archived sessions too; it sorts them without an
// index.
const ordering = `
  ALTER TABLE parley.sessions
    ADD COLUMN pinned boolean NOT NULL DEFAULT false,
    ADD COLUMN archived boolean NOT NULL DEFAULT false,
    ADD COLUMN tags text COLLATE "C";
  CREATE TABLE parley.session_tags (
    session bigint NOT NULL REFERENCES parley.sessions (id) ON DELETE CASCADE,
    tag text COLLATE "C" NOT NULL,
    project integer NOT NULL,
    PRIMARY KEY (session, tag)
  );
  CREATE INDEX sessions_by_tag ON parley.session_tags (project, tag, session);
  CREATE INDEX sessions_pinned ON parley.sessions (project) WHERE pinned;
  DROP INDEX parley.sessions_active;
  DROP INDEX parley.sessions_active_created;
  CREATE INDEX sessions_active ON parley.sessions (project, updated_at, session_id)
    WHERE deleted_at IS NULL AND NOT archived;
  CREATE INDEX sessions_archived ON parley.sessions (project, updated_at, session_id)
    WHERE deleted_at IS NULL AND archived;
  CREATE INDEX sessions_active_created ON parley.sessions (project, created_at, session_id)
    WHERE deleted_at IS NULL AND NOT archived;
  CREATE INDEX sessions_archived_created ON parley.sessions (project, created_at, session_id)
    WHERE deleted_at IS NULL AND archived;
`;

// The limits of a key, null for none, and the hour of its last use. `key_usage` counts the turns and tokens of keys that have a budget;
// `day` is the number of days since 1970 in UTC. The audit log is the chain `audit`, and the entries that wait to be chained. `audit_head`
// in `meta` has the number and the hash of the last one of the chain, empty for none. It is the lock of the chain.
const limitsAndAudit = `
  ALTER TABLE parley.api_keys
    ADD COLUMN scope text COLLATE "C" CHECK (scope IN ('read', 'chat', 'admin')),
    ADD COLUMN expires_at bigint,
    ADD COLUMN turns_per_day bigint,
    ADD COLUMN tokens_per_day bigint,
    ADD COLUMN last_used_at bigint;
  CREATE TABLE parley.key_usage (
    key integer NOT NULL,
    day integer NOT NULL,
    turns bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (key, day)
  );
  CREATE TABLE parley.audit_waiting (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry text COLLATE "C" NOT NULL
  );
  CREATE TABLE parley.audit (
    number bigint PRIMARY KEY,
    entry text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL
  );
  INSERT INTO parley.meta (name, value) VALUES ('audit_head', '');
`;

export const schema: readonly Migration[] = [
  { version: 1, parleyVersion: '0.1.0', sql: first },
  { version: 2, parleyVersion: '0.1.0', sql: servers },
  { version: 3, parleyVersion: '0.1.0', sql: modes },
  { version: 4, parleyVersion: '0.1.0', sql: settings },
  { version: 5, parleyVersion: '0.1.0', sql: lines },
  { version: 6, parleyVersion: '0.1.0', sql: ordering },
  { version: 7, parleyVersion: '0.1.0', sql: limitsAndAudit },
  { version: 8, parleyVersion: '0.1.0', sql: `${userOfSession};${retention}` },
];
