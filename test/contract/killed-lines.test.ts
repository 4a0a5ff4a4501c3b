// Random conversations whose service is killed (SIGKILL) in the middle of operations and continues in another process: embedded and served, over
// SQLite and PostgreSQL, and there also with two servers.
import { afterAll, beforeAll, test } from 'vitest';
import { runs } from '../support/runs.ts';
import { bundleLines, type KilledPlace, openKilledPlace } from './killed-places.ts';
import { playKilledLines } from './random-lines.ts';

const isLong = runs(0, 1) === 1;
let bundled: Awaited<ReturnType<typeof bundleLines>>;
beforeAll(async () => {
  bundled = await bundleLines();
});
afterAll(() => bundled.remove());

const places: readonly (KilledPlace & { readonly name: string })[] = [
  { name: 'the embedded service', database: 'SQLite', servers: 0 },
  { name: 'a server', database: 'SQLite', servers: 1 },
  { name: 'two servers', database: 'PostgreSQL', servers: 2 },
  ...(isLong ? [{ name: 'the embedded service', database: 'PostgreSQL' as const, servers: 0 }] : []),
];

test.each(places)(
  '$name over $database keeps the lines of a session when it is killed',
  async (killed) => {
    const place = await openKilledPlace(bundled.script, killed);
    await playKilledLines(place, { numRuns: runs(1, 15), kills: runs(1, 6), between: runs(6, 12) });
  },
  600_000,
);
