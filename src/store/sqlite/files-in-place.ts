// Notices that the file of an open store, or its log, was deleted or replaced. SQLite keeps using such a file, and the system removes it
// when the last process closes it. What is written there is lost.
import { realpathSync, statSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';

/** Identifies the file that has this name now; null if there is none. */
export function identityOf(path: string): string | null {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev} ${status.ino}`;
}

/** Call it when the store was opened and read. The result throws `STORE_UNSAFE` if one of its files is not in its place any more. */
export function filesInPlace(path: string, identity: string | null): () => void {
  // SQLite has the log beside the target of a link.
  const logPath = `${realpathSync.native(path)}-wal`;
  const log = identityOf(logPath);
  return () => {
    const change = changeOf(path, identity) ?? changeOf(logPath, log);
    if (change === null) return;
    throw new ParleyError('STORE_UNSAFE', `${change} while it was open.`, {
      hint: 'Nothing was stored. End every Parley that uses this store, and start again to use the store that is there now.',
    });
  };
}

function changeOf(path: string, identity: string | null): string | null {
  const now = identityOf(path);
  if (now === identity) return null;
  return `The file ${path} of the store was ${now === null ? 'deleted' : 'replaced by another file'}`;
}
