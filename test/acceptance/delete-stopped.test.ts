// A deletion that is stopped before its first result says what was done, and how to continue.
import { once } from 'node:events';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { outcomeOf, Place } from '../support/parley.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type ReceivedRequest, type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

/** A server that responds only to the requests of `answered`. It resolves when another request has arrived. */
async function silentServer(answers: (request: ReceivedRequest) => boolean) {
  let heard = () => {};
  const received = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const server: ScriptedServer = await serve((request, response) => {
    if (answers(request)) sendJson(response, { success: true, data: { project_id: 'prj_1' } });
    else heard();
  });
  return { server, received, env: { PARLEY_URL: server.url, PARLEY_API_KEY: 'key' } };
}

async function stopped(words: readonly string[], answers: (request: ReceivedRequest) => boolean) {
  const { server, received, env } = await silentServer(answers);
  try {
    const child = place.start(['sessions', 'delete', ...words], env);
    const outcome = outcomeOf(child);
    child.stdin.end();
    await received;
    child.kill('SIGINT');
    return await outcome;
  } finally {
    await server.close();
  }
}

test('a stop while the key is checked says that nothing was deleted', async () => {
  expect(await stopped(['a', 'b', '--yes'], () => false)).toMatchObject({
    status: 130,
    out: '',
    err: 'Stopped: nothing was deleted. To continue, run the same command again.\n',
  });
});

test('a stop while the only response is missing says that the session may have been deleted', async () => {
  expect(await stopped(['ses_a'], () => false)).toMatchObject({
    status: 130,
    out: '',
    err: 'Stopped before the response arrived: the session may have been deleted. To make sure, run the same command again.\n',
  });
});

test('a stop while the first responses of a batch are missing names the command that resumes it', async () => {
  const { status, out, err } = await stopped(['a', 'b', '--yes'], ({ path }) => path.endsWith('/verify'));
  expect([status, out]).toEqual([130, '']);
  expect(err).toMatch(/^Stopped before the first result\. To resume: parley sessions delete --resume \S+\n$/);
});

test('a stop while ids are read says that nothing was deleted', async () => {
  const child = place.start(['sessions', 'delete', '-', '--yes']);
  const outcome = outcomeOf(child);
  await once(child.stderr, 'data');
  child.stdin.write('ses_1\n');
  child.kill('SIGINT');
  const { status, out, err } = await outcome;
  expect([status, out]).toEqual([130, '']);
  expect(err).toContain('Stopped: nothing was deleted. To continue, run the same command again.\n');
});

test('a stop while the database does not respond takes at most two seconds, and names the command that resumes the batch', async () => {
  const server = await startPostgres([]);
  onTestFinished(() => server.stop());
  const { user, port } = server;
  const env = { PARLEY_STORE: `postgres://${user}@127.0.0.1:${port}/postgres?schema=held` };
  const ids: string[] = [];
  for (const title of ['one', 'two']) {
    const { session_id } = await place.answer<{ session_id: string }>(
      ['sessions', 'create', '--title', title],
      { env },
    );
    ids.push(session_id);
  }
  const holder = new pg.Client({ host: '127.0.0.1', port, user, database: 'postgres' });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE held.sessions');
  const child = place.start(['sessions', 'delete', ...ids, '--yes'], env);
  const outcome = outcomeOf(child);
  child.stdin.end();
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"held"%'`;
  await expect.poll(() => server.rows(waiting)).toHaveLength(1);
  const begun = performance.now();
  child.kill('SIGINT');
  const { status, err } = await outcome;
  expect(performance.now() - begun).toBeLessThan(2500);
  await holder.end();
  expect(status).toBe(130);
  expect(err).toMatch(/To resume: parley sessions delete --resume \S+\n$/);
});
