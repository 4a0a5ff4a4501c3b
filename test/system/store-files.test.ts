// The names of the files of a store.
import { expect, test } from 'vitest';
import { isStoreFile } from '../../src/system/store-files.ts';

test.each(['parley.db', 'PARLEY.DB', '/data/Parley.db-wal', 'parley.db-SHM', 'parley.db-journal'])(
  '%s is a file of a store on a system where the case of letters makes no difference',
  (path) => {
    expect(isStoreFile(path)).toBe(true);
  },
);

test.each(['parley.db.backup-v14', 'my-parley.db', 'parley.database', 'parley.db/notes.md'])(
  '%s is no file of a store',
  (path) => {
    expect(isStoreFile(path)).toBe(false);
  },
);
