// The suites of every store, over SQLite.
import { storeOptions } from '../../support/store-options.ts';
import { openTestStore, temporaryDirectory } from '../../support/test-store.ts';
import { describeListings } from '../listing-suite.ts';
import { describeModel } from '../model-suite.ts';
import { describeRepeatedTurns } from '../repeated-turn-suite.ts';
import { describeStore } from '../store-suite.ts';
import { describeTurns } from '../turn-suite.ts';
import { describeUsage } from '../usage-suite.ts';

async function open() {
  return (await openTestStore(storeOptions(temporaryDirectory()))).store;
}

describeStore('the SQLite store', open);
describeListings('the SQLite store', open);
describeTurns('the SQLite store', open);
describeRepeatedTurns('the SQLite store', open);
describeModel('the SQLite store', open);
describeUsage('the SQLite store', open);
