// The migration for the parts of running replies, by their place in the text. Most of the time the table is empty: the end of a turn
// deletes its parts. They go with their session. `created_at` is in epoch milliseconds.
export const replyParts = `
  CREATE TABLE reply_parts (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (session, epoch, at)
  ) STRICT, WITHOUT ROWID;
`;
