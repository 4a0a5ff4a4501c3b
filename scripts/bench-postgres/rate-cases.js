// Rates of `parley serve` over PostgreSQL: creating a session, reading one, and a whole turn, against pgbench, a bare handler and SQLite; and of
// two servers against one. Each has 32 connections of its own.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, forkedScript, serveParley } from '../served-place.js';
import { legMilliseconds, openLoad, reads, turns, writes } from './callers.js';
import { pgbench } from './database.js';
import { addSessions, sessionId } from './filled-store.js';
import { insertSession, wholeTurn } from './floors.js';
import { defaultEnvironment, newStore } from './places.js';
import { line } from './report.js';

const known = 1024;
const seconds = legMilliseconds / 1000;

export async function measureRates({ database, home, bundle, children, rounds, say }) {
  const sides = await openSides({ database, home, bundle, children });
  const { load, one, other, bare, sqlite, history, otherHistory, ids, sqliteIds, variables } = sides;
  const both = [one.url, other.url];
  const post = line('POST /v1/sessions, to pgbench', { unit: '/s', floor: 'pgbench', min: 1 });
  const toBare = line('POST, to a bare handler with a pool', { unit: '/s', floor: 'bare', min: 1.5 });
  const cost = line('database, CPU of a POST, to pgbench', { unit: 'µs', floor: 'pgbench', max: 0.33 });
  const get = line('GET /v1/sessions/:id, to serve on SQLite', { unit: '/s', floor: 'SQLite', min: 1 });
  const turn = line('turn, history of 20, to pgbench', { unit: '/s', floor: 'pgbench', min: 1.1 });
  const twoPosts = line('POST, two servers to one', { unit: '/s', floor: 'one', min: 1.5 });
  const twoTurns = line('turn, two servers to one', { unit: '/s', floor: 'one', min: 1.3 });
  /** A rate, and the processor time of the database per request, in microseconds. */
  const costing = async (work) => {
    const before = database.processorTime();
    const { perSecond, answered } = await work();
    return { perSecond, cost: ((database.processorTime() - before) * 1000) / answered };
  };
  const bench = (script) => costing(async () => pgbench(database, script, { home, seconds, variables }));
  const serve = (urls, requests) => costing(() => load.run(urls, requests));
  // The first round only warms all sides up.
  for (let round = -1; round < rounds; round += 1) {
    const floor = await bench(insertSession);
    const posts = await serve([one.url], writes(one.key));
    const bares = await serve([bare.url], writes(''));
    const morePosts = await serve(both, writes(one.key));
    const sqliteGets = await serve([sqlite.url], reads(sqlite.key, sqliteIds));
    const gets = await serve([one.url], reads(one.key, ids));
    const turnFloor = await bench(wholeTurn(known));
    const ownTurns = await serve([history.url], turns(history.key, ids));
    const moreTurns = await serve([history.url, otherHistory.url], turns(history.key, ids));
    say(`round ${round + 1} of ${rounds}`);
    if (round < 0) continue;
    post.compare(posts.perSecond, floor.perSecond);
    toBare.compare(posts.perSecond, bares.perSecond);
    cost.compare(posts.cost, floor.cost);
    get.compare(gets.perSecond, sqliteGets.perSecond);
    turn.compare(ownTurns.perSecond, turnFloor.perSecond);
    twoPosts.compare(morePosts.perSecond, posts.perSecond);
    twoTurns.compare(moreTurns.perSecond, ownTurns.perSecond);
  }
  return [post, toBare, cost, get, turn, twoPosts, twoTurns].map((one) => one.row());
}

async function openSides({ database, home, bundle, children }) {
  const env = defaultEnvironment(home);
  const { env: served, key, project } = await newStore(database, 'bench_rates', env);
  const one = { ...(await serveParley(served, children)), key };
  const other = { ...(await serveParley(served, children)), key };
  const floor = await newStore(database, 'bench_floor', env);
  for (const [schema, number] of Object.entries({ bench_rates: project, bench_floor: floor.project })) {
    await addSessions(database, schema, { project: number, count: known, messages: 20 });
    await database.rows(`VACUUM (ANALYZE) ${schema}.sessions`);
    await database.rows(`VACUUM (ANALYZE) ${schema}.messages`);
  }
  const fork = async (script, words) =>
    (await forkedScript(`bench-postgres/${script}`, words, { env, children })).first;
  const historyWords = [database.url, 'bench_rates', bundle];
  const sqliteHome = join(home, 'sqlite');
  mkdirSync(sqliteHome);
  const sqliteEnv = defaultEnvironment(sqliteHome);
  const sqlite = { key: createKey(sqliteEnv), ...(await serveParley(sqliteEnv, children)) };
  return {
    load: await openLoad({ env, children }),
    ...{ one, other, sqlite },
    bare: await fork('bare-server.js', [database.url, 'bench_floor', floor.project]),
    history: await fork('history-server.js', historyWords),
    otherHistory: await fork('history-server.js', historyWords),
    ids: Array.from({ length: known }, (_, number) => sessionId(number)),
    sqliteIds: await madeSessions(sqlite),
    variables: { project: floor.project, hash: createHash('sha256').update(floor.key).digest('hex') },
  };
}

async function madeSessions({ url, key }) {
  const make = async () => {
    const response = await fetch(`${url}/v1/sessions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: '{"title":"A session of the benchmark"}',
    });
    return (await response.json()).data.session_id;
  };
  return Promise.all(Array.from({ length: known }, make));
}
