// The suite of every store, over SQLite.
import { onTestFinished } from 'vitest';
import { openSqliteRows } from '../../../src/store/sqlite/open.ts';
import { placeStore } from '../../support/made-store.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { describeEveryStore } from '../every-store.ts';

describeEveryStore('the SQLite store', async () => {
  const options = storeOptions(temporaryDirectory());
  await placeStore(options.directory);
  return {
    open: async () => (await openTestStore(options)).store,
    async openRows() {
      const rows = await openSqliteRows(options);
      onTestFinished(() => rows.close());
      return rows;
    },
  };
});
