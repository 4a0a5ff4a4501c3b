// What the help says about arguments and options that name sessions.

export const oneSession = 'an id, its last 6 or more characters, or a title';

export const someSessions =
  'ids, their last 6 or more characters, or titles; or - for ids on stdin, one per line or NDJSON with session_id';
