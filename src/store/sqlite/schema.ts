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

// The text of every message, to be searched, in two indexes (why two: docs/decisions/2026-11-22-two-search-indexes.md).
// `message_words` knows words, without case and accents. `message_pieces` knows every three characters in a row, of the messages
// alone that hold a script written without spaces; two spaces more, so that the last characters begin a three, too. Both take
// their text from views of `messages`; `owner` is the number of the project, by which an index steps over what other projects
// hold. The triggers keep them, and `secure-delete` takes a text out of an index when its message goes, not later. `columnsize`
// off spares each message one more row: no score here needs it.
const unspaced =
  '[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fff\u3005-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\u{20000}-\u{3fffd}]';
const ownerOf = (message: string) =>
  `(SELECT printf('%03d', project) FROM sessions WHERE sessions.id = ${message}.session)`;
const intoWords = (message: string) =>
  `INSERT INTO message_words (rowid, content, owner) VALUES (${message}.id, ${message}.content, ${ownerOf(message)});`;
const outOfWords = (message: string) => `
  INSERT INTO message_words (message_words, rowid, content, owner)
  VALUES ('delete', ${message}.id, ${message}.content, ${ownerOf(message)});`;
const intoPieces = (message: string) =>
  `INSERT INTO message_pieces (rowid, content, owner) VALUES (${message}.id, ${message}.content || '  ', ${ownerOf(message)});`;
const outOfPieces = (message: string) => `
  INSERT INTO message_pieces (message_pieces, rowid, content, owner)
  VALUES ('delete', ${message}.id, ${message}.content || '  ', ${ownerOf(message)});`;

const second = `
  CREATE VIEW message_words_source (id, content, owner) AS
    SELECT message.id, message.content, ${ownerOf('message')} FROM messages AS message;
  CREATE VIRTUAL TABLE message_words USING fts5 (
    content, owner, content = 'message_words_source', content_rowid = 'id', columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
  );
  INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);

  CREATE VIEW message_pieces_source (id, content, owner) AS
    SELECT message.id, message.content || '  ', ${ownerOf('message')} FROM messages AS message
    WHERE message.content GLOB '*${unspaced}*';
  CREATE VIRTUAL TABLE message_pieces USING fts5 (
    content, owner, content = 'message_pieces_source', content_rowid = 'id', columnsize = 0,
    tokenize = 'trigram'
  );
  INSERT INTO message_pieces (message_pieces, rank) VALUES ('secure-delete', 1);
  CREATE VIRTUAL TABLE message_pieces_known USING fts5vocab (message_pieces, row);

  INSERT INTO message_words (rowid, content, owner) SELECT id, content, owner FROM message_words_source;
  INSERT INTO message_pieces (rowid, content, owner) SELECT id, content, owner FROM message_pieces_source;

  -- A table with triggers has its foreign keys checked with every row that is added: without this index, by a walk.
  CREATE INDEX idempotency_by_message ON idempotency (message) WHERE message IS NOT NULL;

  CREATE TRIGGER message_words_added AFTER INSERT ON messages BEGIN
    ${intoWords('new')}
  END;
  CREATE TRIGGER message_words_removed AFTER DELETE ON messages BEGIN
    ${outOfWords('old')}
  END;
  CREATE TRIGGER message_words_changed AFTER UPDATE OF content ON messages BEGIN
    ${outOfWords('old')}
    ${intoWords('new')}
  END;
  CREATE TRIGGER message_pieces_added AFTER INSERT ON messages WHEN new.content GLOB '*${unspaced}*' BEGIN
    ${intoPieces('new')}
  END;
  CREATE TRIGGER message_pieces_removed AFTER DELETE ON messages WHEN old.content GLOB '*${unspaced}*' BEGIN
    ${outOfPieces('old')}
  END;
  CREATE TRIGGER message_pieces_taken AFTER UPDATE OF content ON messages
  WHEN old.content GLOB '*${unspaced}*' BEGIN
    ${outOfPieces('old')}
  END;
  CREATE TRIGGER message_pieces_given AFTER UPDATE OF content ON messages
  WHEN new.content GLOB '*${unspaced}*' BEGIN
    ${intoPieces('new')}
  END;
`;

// What a reply took, and why it failed. The index holds all that usage is counted from, so that counting reads no text.
const third = `
  ALTER TABLE messages ADD COLUMN first_token_ms INTEGER;
  ALTER TABLE messages ADD COLUMN error_code TEXT;
  CREATE INDEX replies_by_time ON messages
    (created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms)
    WHERE role = 'assistant';
`;

export const schema: readonly Migration[] = [
  { version: 1, parleyVersion: '0.1.0', sql: first },
  { version: 2, parleyVersion: '0.1.0', sql: second },
  { version: 3, parleyVersion: '0.1.0', sql: third },
];
