// The plans of statements that name many sessions: PostgreSQL looks each up, and does not read the whole table.
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Ask } from '../../../src/store/postgres/connection-pool.ts';
import { deleteSessions, restoreSessions } from '../../../src/store/postgres/sessions.ts';
import { inSchema } from '../../../src/store/postgres/statement.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { newProject } from '../store-samples.ts';

const rowsOfTable = 5000;

test('a thousand sessions of many are deleted and restored through the indexes', async () => {
  const server = await sharedPostgres();
  const { store } = await openTestPostgres(server, { schema: 'plans' });
  const project = await newProject(store);
  const { port, user, database } = server;
  const client = new pg.Client({ host: '127.0.0.1', port, user, database });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`
    INSERT INTO plans.sessions (project, session_id, created_at, updated_at)
    SELECT projects.id, 'ses_' || number, number, number FROM plans.projects, generate_series(1, ${rowsOfTable}) AS number`);
  await client.query('ANALYZE plans.sessions');
  const plans: string[] = [];
  const explain = async (one: Parameters<Ask>[0], values: readonly unknown[] = []) => {
    const { rows } = await client.query(`EXPLAIN ${inSchema(one, 'plans').text}`, [...values]);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  };
  const ids = Array.from({ length: 1000 }, (_, index) => `ses_${index * 3}`);
  await deleteSessions(explain, project, ids, 1);
  await restoreSessions(explain, project, ids, 1);
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).not.toContain('Seq Scan on sessions');
    expect(plan).toContain('sessions_by_id');
  }
});
