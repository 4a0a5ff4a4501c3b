// The whole suite of a store: what holds for every one, whatever keeps it. A store runs it by saying how it is opened.
import type { SessionStore } from '../../src/store/session-store.ts';
import type { StoreRows } from '../../src/store/store-rows.ts';
import { describeHandles } from './handles-suite.ts';
import { describeImports } from './import-suite.ts';
import { describeListings } from './listing-suite.ts';
import { describeModel } from './model-suite.ts';
import { describePurges } from './purge-suite.ts';
import { describeRepeatedTurns } from './repeated-turn-suite.ts';
import { describeRows } from './rows-suite.ts';
import { describeSearches } from './search-suite.ts';
import { describeStore } from './store-suite.ts';
import { describeTurns } from './turn-suite.ts';
import { describeUsage } from './usage-suite.ts';

/** A place without sessions. It is given the rules of `local/local-store-rules.ts`, and closed and removed when the test ends. */
export type NewPlace = () => Promise<{
  /** Another store at each call, on the same sessions. */
  open(): Promise<SessionStore>;
  /** All rows of it. */
  openRows(): Promise<StoreRows>;
}>;

export function describeEveryStore(name: string, newPlace: NewPlace): void {
  const open = async () => (await newPlace()).open();
  describeStore(name, open);
  describeListings(name, open);
  describeSearches(name, open);
  describeImports(name, open);
  describeTurns(name, open);
  describeRepeatedTurns(name, open);
  describePurges(name, open);
  describeUsage(name, open);
  describeModel(name, open);
  describeHandles(name, newPlace);
  describeRows(name, newPlace);
}
