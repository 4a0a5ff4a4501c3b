// Whether enough messages wait to be indexed. Each turn asks this, and loads the code of the indexes only if they do.
import type { Connection } from './connection.ts';

/** When this many messages wait, they are indexed after the next write. */
const enough = 256;

export const backlogStatements = {
  isLong: `SELECT 1 FROM search_waiting LIMIT 1 OFFSET ${enough - 1}`,
} as const;

export function isBacklogLong(connection: Connection): boolean {
  return connection.get(backlogStatements.isLong) !== undefined;
}
