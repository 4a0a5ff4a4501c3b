// Compares a large store with one of 1,000 sessions: the rate of each call. A store that an earlier run filled in the same database is reused.
import { createKey, forkedScript } from '../served-place.js';
import { listings, openLoad, reads, turns, writes } from './callers.js';
import { storeIn } from './database.js';
import { fillStore, sessionId } from './filled-store.js';
import { measureIndexing } from './indexing-case.js';
import { defaultEnvironment, projectOf } from './places.js';
import { line } from './report.js';
import { measureSearches } from './search-cases.js';

const small = 1000;

export async function measureLarge({ database, home, bundle, children, rounds, sessions, say }) {
  const env = defaultEnvironment(home);
  const load = await openLoad({ env, children });
  const open = async (schema, count) => {
    createKey({ ...env, PARLEY_STORE: storeIn(database, schema) });
    const project = await projectOf(database, schema);
    const [{ there }] = await database.rows(`SELECT count(*) AS there FROM ${schema}.sessions`);
    if (Number(there) < count) await fillStore(database, schema, { project, sessions: count, say });
    const words = [database.url, schema, bundle];
    const { first } = await forkedScript('bench-postgres/history-server.js', words, { env, children });
    // As many as the small store has, from all parts of the store.
    const ids = Array.from({ length: small }, (_, index) => sessionId(Math.floor((index * count) / small)));
    return { ...first, schema, ids };
  };
  const few = await open('bench_small', small);
  const many = await open(`bench_${sessions}`, sessions);
  const rates = await measureCalls(load, few, many, { rounds, say });
  const searches = await measureSearches(many, { bundle, database, rounds, say });
  const indexing = await measureIndexing(load, many, { database, rounds, say });
  return [...rates, ...searches, ...indexing];
}

async function measureCalls(load, few, many, { rounds, say }) {
  const floor = `${small} sessions`;
  const cases = [
    [line('GET, large store to small', { unit: '/s', floor, min: 0.9 }), ({ key, ids }) => reads(key, ids)],
    [line('POST, large store to small', { unit: '/s', floor, min: 0.9 }), ({ key }) => writes(key)],
    [line('list, large store to small', { unit: '/s', floor, min: 0.9 }), ({ key }) => listings(key)],
    [line('turn, large store to small', { unit: '/s', floor, min: 0.85 }), ({ key, ids }) => turns(key, ids)],
  ];
  for (let round = -1; round < rounds; round += 1) {
    for (const [row, requests] of cases) {
      const before = await load.run([few.url], requests(few));
      const after = await load.run([many.url], requests(many));
      if (round >= 0) row.compare(after.perSecond, before.perSecond);
    }
    say(`large store, round ${round + 1} of ${rounds}`);
  }
  return cases.map(([row]) => row.row());
}
