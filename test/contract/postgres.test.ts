// The parts of the API that may differ between PostgreSQL and SQLite, over PostgreSQL: from two servers, which share a pooler in transaction mode,
// so that no statement may rely on the connection of an earlier one. Search, settings, the ordering and users are tested by the suite of the store
// over PostgreSQL, and by this suite over other services. postgres.long.ts has all parts, in all ways, over all versions.
import { hasPooler } from '../support/pooler.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { describePostgresServices } from './postgres-suite.ts';

describePostgresServices('PostgreSQL', () => startPostgres(), {
  isPooled: hasPooler,
  isEmbeddedToo: false,
  isShort: true,
});
