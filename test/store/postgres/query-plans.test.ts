// The plans of statements that name many sessions: PostgreSQL looks each up, and does not read the whole table.
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { searchRules } from '../../../src/local/search-rules.ts';
import type { Ask } from '../../../src/store/postgres/connection-pool.ts';
import { searchReads } from '../../../src/store/postgres/search.ts';
import { deleteSessions, restoreSessions } from '../../../src/store/postgres/sessions.ts';
import { inSchema } from '../../../src/store/postgres/statement.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { newProject, searchFilter } from '../store-samples.ts';

const rowsOfTable = 5000;

/** A store whose first project has many sessions. `explain` collects the plans of what it is asked, and gives no rows. */
async function plannedStore(schema: string) {
  const server = await sharedPostgres();
  const { store } = await openTestPostgres(server, { schema });
  const project = await newProject(store);
  const { port, user, database } = server;
  const client = new pg.Client({ host: '127.0.0.1', port, user, database });
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query(`
    INSERT INTO ${schema}.sessions (project, session_id, created_at, updated_at)
    SELECT projects.id, 'ses_' || number, number, number
    FROM ${schema}.projects, generate_series(1, ${rowsOfTable}) AS number RETURNING project`);
  await client.query(`ANALYZE ${schema}.sessions`);
  const plans: string[] = [];
  const explain: Ask = async (one, values = []) => {
    const { rows } = await client.query(`EXPLAIN ${inSchema(one, schema).text}`, [...values]);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  };
  return { project, projectNumber: rows[0].project as number, plans, explain };
}

test('a thousand sessions of many are deleted and restored through the indexes', async () => {
  const { project, plans, explain } = await plannedStore('plans');
  const ids = Array.from({ length: 1000 }, (_, index) => `ses_${index * 3}`);
  await deleteSessions(explain, project, ids, 1);
  await restoreSessions(explain, project, ids, 1);
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).not.toContain('Seq Scan on sessions');
    expect(plan).toContain('sessions_by_id');
  }
});

test('the session of a hit is looked up by its number, also in a project that is new to the statistics', async () => {
  const { projectNumber, plans, explain } = await plannedStore('hit_plans');
  const indexed = { project: projectNumber + 1, messages: 1, unindexed: true, isRare: false };
  await searchReads(explain, searchRules, indexed, searchFilter('word')).hits(10);
  expect(plans).toHaveLength(3);
  for (const plan of plans) {
    expect(plan).toContain('sessions_pkey');
    expect(plan).not.toContain('sessions_by_id');
  }
});
