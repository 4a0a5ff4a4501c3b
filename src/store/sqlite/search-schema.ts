// The migrations that make the search indexes: the views that give them texts, and the triggers that remove texts from them. schema.ts
// numbers the migrations.
import { unspaced } from '../unspaced-scripts.ts';

// The texts of messages are in two indexes (why two: docs/decisions/2026-11-22-two-search-indexes.md). `message_words` holds words, without
// case and accents. `message_pieces` holds every three characters in a row, of those messages alone that hold a script written without
// spaces. Its texts end with two more spaces, so that a piece begins at each of the last characters too. Both indexes read their texts from
// views of `messages`. The column `owner` is the number of the project, by which a search passes over other projects' messages.
// After migration 4 the indexes hold the messages up to `search_progress.through` (until migration 9). The triggers remove deleted texts;
// `secure-delete` erases their words at once (until migration 8). `columnsize = 0` saves a row per message, which no score here needs.
// Migration 4 drops the indexes of older stores.
const ownerOf = (message: string) =>
  `(SELECT printf('%03d', project) FROM sessions WHERE sessions.id = ${message}.session)`;
const isIndexed = (message: string) => `${message}.id <= (SELECT through FROM search_progress)`;
/** True for a message that holds a script written without spaces. */
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

/** The FTS5 tokenizer of each index. */
export const tokenizers = { words: 'unicode61 remove_diacritics 2', pieces: 'trigram' } as const;

/** Migration 4: the indexes are filled after the messages are stored. */
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

  -- SQLite may give the number of the deleted last message to a new one, so the progress steps back to a message that exists.
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

/** A message with more bytes than this is in no index. Each search reads its text (search-unindexed.ts). */
export const longestIndexed = 64 * 1024;
/** The same limit for a message that holds a script written without spaces, in which nearly every character makes another entry. */
export const longestInPieces = 32 * 1024;

// Migration 8. No write may take long, because all other writes wait for it.
// `imports` names each session that is imported, or purged, in several transactions. Meanwhile the session belongs to project 0, which has
// no keys, so no statement finds it. `project` is the project that the session is for. After `held_until` no process works on the session.
// `search_apart` names the messages that are in no index because to add or remove one would take long.
// `secure-delete` is off for the same reason: it removes the words of a message one by one, which takes up to 20 s for 1 MiB. A purge
// merges the indexes, which erases the deleted words.
const projectOf = (message: string) => `(
  SELECT coalesce(imports.project, sessions.project) FROM sessions LEFT JOIN imports ON imports.session = sessions.id
  WHERE sessions.id = ${message}.session)`;
const isApart = (message: string) =>
  `EXISTS (SELECT 1 FROM search_apart WHERE project = ${projectOf(message)} AND message = ${message}.id)`;
// CASE fixes the order of the tests; SQLite may change the order of AND and OR. GLOB takes a tenth of a second for 1 MiB.
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
/** Migration 8: long messages stay out of the indexes, and long imports take several transactions. */
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

// Migration 9. `search_waiting` names the messages that are not in the indexes yet, by project. A search reads and indexes those of its own
// project alone. `search_progress`, which was one for all projects, goes.
const isWaiting = (message: string) =>
  `EXISTS (SELECT 1 FROM search_waiting WHERE project = ${projectOf(message)} AND message = ${message}.id)`;
const isOutside = (message: string) => `(${isWaiting(message)} OR ${isApart(message)})`;
/** Migration 9: each project's messages wait for the indexes by themselves. */
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
