// The person whose session it is. A session without one is in no index of it, so it pays nothing. A turn changes no column of the index.

export const userOfSession = `
  ALTER TABLE sessions ADD COLUMN user_id TEXT;
  CREATE INDEX sessions_by_user ON sessions (user_id, project) WHERE user_id IS NOT NULL;
`;
