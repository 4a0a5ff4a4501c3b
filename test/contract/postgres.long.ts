// The same API over the PostgreSQL of this machine without a pooler, and over PostgreSQL 18 without and with one.
import { hasPooler } from '../support/pooler.ts';
import { newestPostgres, startPostgres } from '../support/postgres-server.ts';
import { describePostgresServices } from './postgres-suite.ts';

const startNewest = () => startPostgres(undefined, newestPostgres);

describePostgresServices('PostgreSQL', () => startPostgres(), false);
describePostgresServices('PostgreSQL 18', startNewest, false);
if (hasPooler) describePostgresServices('PostgreSQL 18', startNewest, true);
