// Searches in a large store: by the number of hits, and the slowest of many random searches.
import { hitCounts, vocabulary } from './filled-store.js';
import { openHome } from './home.js';
import { line } from './report.js';

const randomQueries = 200;
const timesOfQuery = 20;

/** Searches one after the other, through the service in this process; the key is checked for each. */
export async function measureSearches({ key, schema }, { bundle, database, rounds, say }) {
  const home = await openHome(database.url, schema, bundle);
  const call = {
    apiKey: key,
    signal: new AbortController().signal,
    idempotencyKey: null,
    requestId: 'bench',
  };
  const timed = async (query) => {
    const start = performance.now();
    const { data } = await home.archive.searchSessions(call, { query, limit: 50, cursor: null });
    return { milliseconds: performance.now() - start, items: data.items };
  };
  // The messages of the turns before are indexed first.
  await timed('everywhere');
  const limits = { 10: 3, 100: 5, 1000: 40 };
  const rows = [];
  const repeated = async (query, row, times) => {
    for (let time = -3; time < times; time += 1) {
      const { milliseconds, items } = await timed(query);
      if (items.length === 0) throw new Error(`Nothing is found for ${query}.`);
      if (time >= 0) row.add(milliseconds, milliseconds);
    }
    rows.push(row.row());
  };
  for (const hits of hitCounts)
    await repeated(
      `hits${hits}`,
      line(`search, ${hits} hits`, { unit: 'ms', max: limits[hits] }),
      timesOfQuery,
    );
  await repeated('everywhere', line('search, a word in every message', { unit: 'ms', max: 300 }), rounds);
  const worst = { milliseconds: 0, query: '' };
  for (const query of queries()) {
    const { milliseconds } = await timed(query);
    if (milliseconds > worst.milliseconds) Object.assign(worst, { milliseconds, query });
  }
  say(`the worst of ${randomQueries} queries was ${worst.query}`);
  const random = line(`search, the worst of ${randomQueries} random queries`, { unit: 'ms', max: 1000 });
  random.add(worst.milliseconds, worst.milliseconds);
  rows.push(random.row());
  await home.close();
  return rows;
}

/** The same queries in every run: one to three words, prefixes, and both. */
function* queries() {
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const word = () => `w${Math.floor(vocabulary * random() ** 3)}`;
  const beginning = () => `w${Math.floor(10 + 990 * random())}*`;
  const kinds = [
    () => word(),
    () => `${word()} ${word()}`,
    () => `${word()} ${word()} ${word()}`,
    () => beginning(),
    () => `${beginning()} ${word()}`,
  ];
  for (let index = 0; index < randomQueries; index += 1) yield kinds[index % kinds.length]();
}
