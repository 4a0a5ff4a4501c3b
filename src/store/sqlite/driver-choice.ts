// Chooses the library for SQLite: Node's own, where this Node has one without a warning, else better-sqlite3. Only the chosen one is
// loaded.
import { ParleyError } from '../../service/errors.ts';
import type { SqliteDriver } from './driver.ts';
import { driverNames } from './driver.ts';
import { isSafeSqlite } from './safe-sqlite.ts';

/** `process.versions`: `node`, `napi`, and `sqlite` where Node has it. */
export type RuntimeVersions = Readonly<Record<string, string | undefined>>;

/** `forced` is a driver's name; without it the choice is by the versions. */
export async function chooseDriver(versions: RuntimeVersions, forced?: string): Promise<SqliteDriver> {
  const hasNodeSqlite = isUsable(versions);
  if (forced && !driverNames.some((name) => name === forced)) {
    throw new ParleyError('CONFIG', `There is no SQLite driver ${JSON.stringify(forced)}.`, {
      hint: `Set PARLEY_SQLITE_DRIVER to one of ${driverNames.join(', ')}, or leave it unset.`,
    });
  }
  if (forced === 'node:sqlite' && !hasNodeSqlite) {
    throw new ParleyError('CONFIG', `node:sqlite of Node ${versions['node']} cannot be used.`, {
      hint: 'Use Node 24.15 or newer, or leave PARLEY_SQLITE_DRIVER unset.',
    });
  }
  const isNodes = forced ? forced === 'node:sqlite' : hasNodeSqlite && isSafeSqlite(versions['sqlite'] ?? '');
  if (isNodes) return (await import('./node-sqlite-driver.ts')).nodeSqlite();
  return (await import('./better-sqlite3-driver.ts')).betterSqlite3(Number(versions['napi']));
}

/** From Node 24.15 on, loading node:sqlite prints no warning. A Node may be built without it. */
function isUsable(versions: RuntimeVersions): boolean {
  const [major = 0, minor = 0] = (versions['node'] ?? '').split('.').map(Number);
  return versions['sqlite'] !== undefined && (major > 24 || (major === 24 && minor >= 15));
}
