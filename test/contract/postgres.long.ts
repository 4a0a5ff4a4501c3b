// The same API over the PostgreSQL of this machine without a pooler, and over PostgreSQL 18 without and with one; also embedded.
import { hasPooler } from '../support/pooler.ts';
import { newestPostgres, startPostgres } from '../support/postgres-server.ts';
import { describePostgresServices } from './postgres-suite.ts';

const startNewest = () => startPostgres(undefined, newestPostgres);

describePostgresServices('PostgreSQL', () => startPostgres(), { isPooled: false, isEmbeddedToo: true });
describePostgresServices('PostgreSQL 18', startNewest, { isPooled: false, isEmbeddedToo: true });
if (hasPooler)
  describePostgresServices('PostgreSQL 18', startNewest, { isPooled: true, isEmbeddedToo: false });
