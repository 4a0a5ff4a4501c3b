// The same API over PostgreSQL, where it may differ from SQLite's: from two servers, which here share a pooler in transaction mode as well, so
// that no statement may count on the connection of the one before. Search, settings, the ordering and users are shown by the suite of the
// store over PostgreSQL and by this suite over other services. postgres.long.ts has all parts, in all ways, over all versions.
import { hasPooler } from '../support/pooler.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { describePostgresServices } from './postgres-suite.ts';

describePostgresServices('PostgreSQL', () => startPostgres(), {
  isPooled: hasPooler,
  isEmbeddedToo: false,
  isShort: true,
});
