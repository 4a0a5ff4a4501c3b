// What the search indexes are made of: the views that they take texts from, and the triggers that take texts out. The statements of the
// migrations that made them so; schema.ts numbers these.
import { unspaced } from '../unspaced-scripts.ts';

// The text of every message, to be searched, in two indexes (why two: docs/decisions/2026-11-22-two-search-indexes.md).
// `message_words` knows words, without case and accents. `message_pieces` knows every three characters in a row, of the messages
// alone that hold a script written without spaces; two spaces more, so that the last characters begin a three, too. Both take
// their text from views of `messages`; `owner` is the number of the project, by which an index steps over what other projects
// hold. They hold the messages up to `search_progress.through`, and search-index.ts brings them forward; the triggers take out
// what goes, and `secure-delete` does that at once (migration 8 ends it). `columnsize` off spares each message one more row: no score here needs it.
// What a store has that was made before the indexes were filled late is cleared.
const ownerOf = (message: string) =>
  `(SELECT printf('%03d', project) FROM sessions WHERE sessions.id = ${message}.session)`;
const isIndexed = (message: string) => `${message}.id <= (SELECT through FROM search_progress)`;
/** Whether a message holds a script written without spaces. */
export const hasPieces = (message: string) => `${message}.content GLOB '*${unspaced}*'`;
const intoIndexes = (message: string) => `
  INSERT INTO message_words (rowid, content, owner)
    VALUES (${message}.id, ${message}.content, ${ownerOf(message)});
  INSERT INTO message_pieces (rowid, content, owner)
    SELECT ${message}.id, ${message}.content || '  ', ${ownerOf(message)} WHERE ${hasPieces(message)};`;
const outOfIndexes = (message: string) => `
  INSERT INTO message_words (message_words, rowid, content, owner)
    VALUES ('delete', ${message}.id, ${message}.content, ${ownerOf(message)});
  INSERT INTO message_pieces (message_pieces, rowid, content, owner)
    SELECT 'delete', ${message}.id, ${message}.content || '  ', ${ownerOf(message)} WHERE ${hasPieces(message)};`;

/** How the texts of an index are divided. */
export const tokenizers = { words: 'unicode61 remove_diacritics 2', pieces: 'trigram' } as const;

/** Migration 4. */
export const searchFilledLate = `
  -- Sessions of one time are listed by their ids.
  DROP INDEX sessions_active;
  DROP INDEX sessions_deleted;
  CREATE INDEX sessions_active ON sessions (project, updated_at, session_id) WHERE deleted_at IS NULL;
  CREATE INDEX sessions_deleted ON sessions (project, updated_at, session_id) WHERE deleted_at IS NOT NULL;

  DROP TRIGGER IF EXISTS message_words_added;
  DROP TRIGGER IF EXISTS message_words_removed;
  DROP TRIGGER IF EXISTS message_words_changed;
  DROP TRIGGER IF EXISTS message_pieces_added;
  DROP TRIGGER IF EXISTS message_pieces_removed;
  DROP TRIGGER IF EXISTS message_pieces_taken;
  DROP TRIGGER IF EXISTS message_pieces_given;
  DROP TABLE IF EXISTS message_pieces_known;
  DROP TABLE IF EXISTS message_pieces;
  DROP TABLE IF EXISTS message_words;
  DROP VIEW IF EXISTS message_pieces_source;
  DROP VIEW IF EXISTS message_words_source;

  CREATE TABLE search_progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    through INTEGER NOT NULL
  ) STRICT;
  INSERT INTO search_progress (id, through) VALUES (1, 0);

  CREATE VIEW message_words_source (id, content, owner) AS
    SELECT message.id, message.content, ${ownerOf('message')} FROM messages AS message
    WHERE ${isIndexed('message')};
  CREATE VIRTUAL TABLE message_words USING fts5 (
    content, owner, content = 'message_words_source', content_rowid = 'id', columnsize = 0,
    tokenize = '${tokenizers.words}'
  );
  INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);

  CREATE VIEW message_pieces_source (id, content, owner) AS
    SELECT message.id, message.content || '  ', ${ownerOf('message')} FROM messages AS message
    WHERE ${hasPieces('message')} AND ${isIndexed('message')};
  CREATE VIRTUAL TABLE message_pieces USING fts5 (
    content, owner, content = 'message_pieces_source', content_rowid = 'id', columnsize = 0,
    tokenize = '${tokenizers.pieces}'
  );
  INSERT INTO message_pieces (message_pieces, rank) VALUES ('secure-delete', 1);
  CREATE VIRTUAL TABLE message_pieces_known USING fts5vocab (message_pieces, row);

  -- The number of the last message may be given again when it has gone: progress steps back to one that is there.
  CREATE TRIGGER message_removed AFTER DELETE ON messages WHEN ${isIndexed('old')} BEGIN
    ${outOfIndexes('old')}
    UPDATE search_progress SET through = (SELECT coalesce(max(id), 0) FROM messages WHERE id < old.id)
      WHERE through = old.id;
  END;
  CREATE TRIGGER message_changed AFTER UPDATE OF content ON messages WHEN ${isIndexed('old')} BEGIN
    ${outOfIndexes('old')}
    ${intoIndexes('new')}
  END;
`;

/** A message with more bytes than this is looked through by each search, and is in no index. */
export const longestIndexed = 64 * 1024;
/** The same for one that holds a script written without spaces: nearly every character of it is another entry. */
export const longestInPieces = 32 * 1024;

// No write may take long, since all others wait for it.
// `imports` names each session that is being taken in, in several transactions. Until the last one the session belongs to project 0,
// which no key is of, so that no statement finds it; `project` is the one that it is for. After `held_until` nobody works on it.
// `search_apart` holds the messages that are in no index although `search_progress` has passed them, because to take one in, or out,
// would take long. For the same reason `secure-delete` goes: with it, the words of a message left the index one by one, at up to 20 s
// for 1 MiB. A purge optimizes the indexes, and so their old words are gone after it.
const projectOf = (message: string) => `(
  SELECT coalesce(imports.project, sessions.project) FROM sessions LEFT JOIN imports ON imports.session = sessions.id
  WHERE sessions.id = ${message}.session)`;
const isApart = (message: string) =>
  `EXISTS (SELECT 1 FROM search_apart WHERE project = ${projectOf(message)} AND message = ${message}.id)`;
// CASE, because the order of AND and OR is SQLite's to choose: GLOB reads 1 MiB for a tenth of a second.
const isInPieces = (message: string, isOutside = isApart) =>
  `CASE WHEN ${isOutside(message)} THEN FALSE ELSE ${hasPieces(message)} END`;
const isLong = (message: string) => `CASE WHEN octet_length(${message}.content) > ${longestIndexed} THEN TRUE
  WHEN octet_length(${message}.content) > ${longestInPieces} THEN ${hasPieces(message)} ELSE FALSE END`;
const ownerText = (message: string) => `printf('%03d', ${projectOf(message)})`;
const takeOut = (message: string, isOutside = isApart) => `
  INSERT INTO message_words (message_words, rowid, content, owner)
    SELECT 'delete', ${message}.id, ${message}.content, ${ownerText(message)} WHERE NOT ${isOutside(message)};
  INSERT INTO message_pieces (message_pieces, rowid, content, owner)
    SELECT 'delete', ${message}.id, ${message}.content || '  ', ${ownerText(message)}
    WHERE ${isInPieces(message, isOutside)};
  DELETE FROM search_apart WHERE project = ${projectOf(message)} AND message = ${message}.id;`;
const takeIn = (message: string) => `
  INSERT INTO search_apart (project, message) SELECT ${projectOf(message)}, ${message}.id WHERE ${isLong(message)};
  INSERT INTO message_words (rowid, content, owner)
    SELECT ${message}.id, ${message}.content, ${ownerText(message)} WHERE NOT ${isApart(message)};
  INSERT INTO message_pieces (rowid, content, owner)
    SELECT ${message}.id, ${message}.content || '  ', ${ownerText(message)}
    WHERE ${isInPieces(message)};`;
/** Migration 8. */
export const longWritesParted = `
  CREATE TABLE imports (
    session INTEGER PRIMARY KEY REFERENCES sessions (id),
    project INTEGER NOT NULL REFERENCES projects (id),
    held_until INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE search_apart (
    project INTEGER NOT NULL REFERENCES projects (id),
    message INTEGER NOT NULL,
    PRIMARY KEY (project, message)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 0);
  INSERT INTO message_pieces (message_pieces, rank) VALUES ('secure-delete', 0);
  DROP VIEW message_words_source;
  DROP VIEW message_pieces_source;
  CREATE VIEW message_words_source (id, content, owner) AS
    SELECT message.id, message.content, ${ownerText('message')} FROM messages AS message
    WHERE ${isIndexed('message')} AND NOT ${isApart('message')};
  CREATE VIEW message_pieces_source (id, content, owner) AS
    SELECT message.id, message.content || '  ', ${ownerText('message')} FROM messages AS message
    WHERE ${isIndexed('message')} AND ${isInPieces('message')};
  DROP TRIGGER message_removed;
  DROP TRIGGER message_changed;
  CREATE TRIGGER message_removed AFTER DELETE ON messages WHEN ${isIndexed('old')} BEGIN
    ${takeOut('old')}
    UPDATE search_progress SET through = (SELECT coalesce(max(id), 0) FROM messages WHERE id < old.id)
      WHERE through = old.id;
  END;
  CREATE TRIGGER message_changed AFTER UPDATE OF content ON messages WHEN ${isIndexed('old')} BEGIN
    ${takeOut('old')}
    ${takeIn('new')}
  END;
`;

// `search_waiting` holds the messages that are not in the indexes yet, by project: a search reads those of its own project, and fills the
// indexes with no other's. It takes the place of `search_progress`, which one project that wrote much held back for all.
const isWaiting = (message: string) =>
  `EXISTS (SELECT 1 FROM search_waiting WHERE project = ${projectOf(message)} AND message = ${message}.id)`;
const isOutside = (message: string) => `(${isWaiting(message)} OR ${isApart(message)})`;
/** Migration 9. */
export const searchWaitingByProject = `
  CREATE TABLE search_waiting (
    project INTEGER NOT NULL REFERENCES projects (id),
    message INTEGER NOT NULL,
    PRIMARY KEY (project, message)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO search_waiting (project, message)
    SELECT ${projectOf('message')}, message.id FROM messages AS message
    WHERE message.id > (SELECT through FROM search_progress);

  DROP TRIGGER message_removed;
  DROP TRIGGER message_changed;
  DROP VIEW message_words_source;
  DROP VIEW message_pieces_source;
  DROP TABLE search_progress;
  CREATE VIEW message_words_source (id, content, owner) AS
    SELECT message.id, message.content, ${ownerText('message')} FROM messages AS message
    WHERE NOT ${isOutside('message')};
  CREATE VIEW message_pieces_source (id, content, owner) AS
    SELECT message.id, message.content || '  ', ${ownerText('message')} FROM messages AS message
    WHERE ${isInPieces('message', isOutside)};
  CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN
    INSERT INTO search_waiting (project, message) VALUES (${projectOf('new')}, new.id);
  END;
  CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
    ${takeOut('old', isOutside)}
    DELETE FROM search_waiting WHERE project = ${projectOf('old')} AND message = old.id;
  END;
  CREATE TRIGGER message_changed AFTER UPDATE OF content ON messages WHEN NOT ${isWaiting('old')} BEGIN
    ${takeOut('old')}
    ${takeIn('new')}
  END;
`;
