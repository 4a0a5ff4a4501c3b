// Whether the store holds a staged session (staged-session.ts). Each start asks this, and most stores hold none.
import type { Connection } from './connection.ts';

/** False also if the answer cannot be read now: the next start asks again. */
export function hasStaged(connection: Connection): boolean {
  try {
    return connection.get('SELECT 1 FROM imports LIMIT 1') !== undefined;
  } catch {
    return false;
  }
}
