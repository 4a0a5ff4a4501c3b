// The person whose session it is. A session without one is in no index of it, so it pays nothing. A server with the earlier schema makes
// sessions without a person.

export const userOfSession = `
  ALTER TABLE parley.sessions ADD COLUMN user_id text COLLATE "C";
  CREATE INDEX sessions_by_user ON parley.sessions (user_id, project) WHERE user_id IS NOT NULL;
`;
