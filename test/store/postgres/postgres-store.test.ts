// The suites of every store, over PostgreSQL.
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import pg from 'pg';
import { storeRules } from '../../../src/local/store-rules.ts';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { describeListings } from '../listing-suite.ts';
import { describeModel } from '../model-suite.ts';
import { describeRepeatedTurns } from '../repeated-turn-suite.ts';
import { describeStore } from '../store-suite.ts';
import { describeTurns } from '../turn-suite.ts';
import { describeUsage } from '../usage-suite.ts';

let server: PostgresServer;
let number = 0;
beforeAll(async () => {
  server = await startPostgres(findPostgres(process.env) as string);
}, 30_000);
afterAll(() => server.stop());

async function open() {
  number += 1;
  const { store } = await openPostgresStore({
    name: 'postgres://test', config: { host: '127.0.0.1', port: server.port, user: server.user, database: 'postgres' },
    schema: `parley_${number}`, now: Date.now, rules: storeRules, random: Math.random, connections: 4, patienceMs: 3000, prepare: true, acceptsLoss: true,
  });
  onTestFinished(() => store.close());
  return store as never;
}

describeStore('the PostgreSQL store', open);
describeListings('the PostgreSQL store', open);
describeTurns('the PostgreSQL store', open);
describeRepeatedTurns('the PostgreSQL store', open);
describeModel('the PostgreSQL store', open);
describeUsage('the PostgreSQL store', open);
