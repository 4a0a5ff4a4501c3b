// The whole suite of a store, the same for every database. A store runs it with functions that open the store.
import type { SessionStore } from '../../src/store/session-store.ts';
import type { StoreRows } from '../../src/store/store-rows.ts';
import { describeAudits } from './audit-suite.ts';
import { describeForks } from './fork-suite.ts';
import { describeHandles } from './handles-suite.ts';
import { describeImports } from './import-suite.ts';
import { describeKeyLimits } from './key-suite.ts';
import { describeListings } from './listing-suite.ts';
import { describeModel } from './model-suite.ts';
import { describeTurnMoves } from './move-suite.ts';
import { describeOrdering } from './ordering-suite.ts';
import { describeReplyParts } from './part-suite.ts';
import { describePurges } from './purge-suite.ts';
import { describeRedactions } from './redaction-suite.ts';
import { describeRegenerations } from './regeneration-suite.ts';
import { describeRepeatedTurns } from './repeated-turn-suite.ts';
import { describeReplacements } from './replacement-suite.ts';
import { describeRetention } from './retention-suite.ts';
import { describeRows } from './rows-suite.ts';
import { describeSearches } from './search-suite.ts';
import { describeSettings } from './settings-suite.ts';
import { describeStore } from './store-suite.ts';
import { describeTurns } from './turn-suite.ts';
import { describeUsage } from './usage-suite.ts';
import { describeUsers } from './user-suite.ts';

/** Opens a store without sessions, with the rules of `local/local-store-rules.ts`. It is closed and removed when the test ends. */
export type NewPlace = () => Promise<{
  /** Returns a function that opens another store on the same sessions at each call. */
  open(): Promise<SessionStore>;
  /** Opens all rows of a new store. */
  openRows(): Promise<StoreRows>;
}>;

export function describeEveryStore(name: string, newPlace: NewPlace): void {
  const open = async () => (await newPlace()).open();
  describeStore(name, open);
  describeKeyLimits(name, open);
  describeListings(name, open);
  describeSearches(name, open);
  describeImports(name, open);
  describeTurns(name, open);
  describeRepeatedTurns(name, open);
  describeSettings(name, open);
  describeOrdering(name, open);
  describeReplyParts(name, newPlace);
  describeRegenerations(name, open);
  describeTurnMoves(name, open);
  describeForks(name, open);
  describeReplacements(name, open);
  describePurges(name, open);
  describeRedactions(name, open);
  describeUsage(name, open);
  describeUsers(name, open);
  describeModel(name, open);
  describeAudits(name, newPlace);
  describeRetention(name, newPlace);
  describeHandles(name, newPlace);
  describeRows(name, newPlace);
}
