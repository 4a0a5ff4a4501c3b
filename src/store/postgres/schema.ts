// The tables of a store in PostgreSQL, as numbered migrations: a released one is never changed, only followed. Times of the service
// are epoch milliseconds. Leases and the age of idempotency keys are times of the database: its clock is the one that all servers share.
// Ids are compared byte by byte (COLLATE "C"), as in every store, so that pages have one order and cursors are valid everywhere.
// There is no extension, trigger or function: a hosted database allows these to everybody who may make a table.

export interface Migration {
  /** 1 for the first, then without gaps. */
  readonly version: number;
  /** The first Parley that can use the schema that this makes. */
  readonly parleyVersion: string;
  readonly sql: string;
}

// A key to `projects` would lock its row at every insert; each statement joins the project by its id instead.
// `sessions.message_count` is also the position of the next message. The turn_ columns are set while a turn runs; `turn_position` is
// that of its message, `turn_epoch` counts the takings of a turn. `to_index` holds the messages whose words are not in `search` yet;
// `search.words` is empty for a message of more words than an index takes.
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

// One row for each server that serves, renewed by its beat: while `until` lies ahead, the server holds its turns. A server that left has
// `-infinity`. Before `judges_from` it takes no turn of another: for a lease long it gives the others the time to come back after an outage
// of the database. `reply_parts` holds what has come of the replies that run, in parts by their place in the text.
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

// The settings of a mode are kept as they were given: the database does not look into them. `modes_version` and `default_mode` (empty for
// none) are rows of `meta`, so that a change of modes turns both on in one place. A server of the version before reads none of this.
const modes = `
  CREATE TABLE parley.modes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    settings text NOT NULL
  );
  INSERT INTO parley.meta (name, value) VALUES ('modes_version', 'none'), ('default_mode', '');
`;

export const schema: readonly Migration[] = [
  { version: 1, parleyVersion: '0.1.0', sql: first },
  { version: 2, parleyVersion: '0.1.0', sql: servers },
  { version: 3, parleyVersion: '0.1.0', sql: modes },
];
