// Whether the store holds what a process that ended early leaves: a staged session (staged-session.ts), or parts of a reply (reply-parts.ts).
// Each start asks this, and most stores hold neither. Running processes have both, too.
import type { Connection } from './connection.ts';

/** False also if the answer cannot be read now: the next start asks again. */
export function mayHoldLeftovers(connection: Connection): boolean {
  try {
    return connection.get('SELECT 1 FROM imports UNION ALL SELECT 1 FROM reply_parts LIMIT 1') !== undefined;
  } catch {
    return false;
  }
}
