// Fills a store with sessions by SQL, for tests and benchmarks that need many.
import { RawDatabase } from './raw-database.ts';

/** Adds sessions to the first project of a store that no process uses. Returns the ids, oldest first. */
export function fillStore(path: string, count: number): readonly string[] {
  const database = new RawDatabase(path);
  try {
    database.pragma('synchronous = OFF');
    const insert = database.prepare(
      'INSERT INTO sessions (session_id, project, title, created_at, updated_at) VALUES (?, 1, ?, ?, ?)',
    );
    const now = Date.now();
    const ids = Array.from({ length: count }, (_, index) => `ses_${idText(index)}`);
    database.transaction(() => {
      ids.forEach((id, index) => {
        const time = now - count + index;
        insert.run(id, `title ${index}`, time, time);
      });
    })();
    return ids;
  } finally {
    database.close();
  }
}

/** An id of the usual length, whose order does not depend on the count. */
function idText(index: number): string {
  const mixed = BigInt.asUintN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n);
  return `${mixed.toString(32).padStart(13, '0')}${index.toString(32).padStart(13, '0')}`;
}
