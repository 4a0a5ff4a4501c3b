// Which versions of SQLite may write a store.
import { ParleyError } from '../../service/errors.ts';

/** Versions before 3.51.3 can damage a write-ahead log that two connections reset (https://sqlite.org/wal.html, “The WAL-Reset Bug”). */
export function isSafeSqlite(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major * 1_000_000 + minor * 1000 + patch >= 3_051_003;
}

export function refuseUnsafeSqlite(version: string, hint: string): void {
  if (isSafeSqlite(version)) return;
  throw new ParleyError(
    'STORE_UNSAFE',
    `SQLite ${version} can damage a store; Parley needs 3.51.3 or newer.`,
    {
      hint,
    },
  );
}
