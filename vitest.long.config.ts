// The long form of the tests, `npm run test:long`: texts of great length, and properties on many cases. A file `.long.ts` states its figures;
// a property of the usual tests has both of its figures beside it, in `runs(few, many)`.
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const withProperties = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter(
    (path) =>
      path.endsWith('.test.ts') && /support\/runs\.ts|\/every-store\.ts/.test(readFileSync(path, 'utf8')),
  );

export default defineConfig({
  test: {
    include: ['test/**/*.long.ts', ...withProperties],
    setupFiles: ['test/support/no-warnings.ts'],
    globalSetup: ['test/support/memory-directory.ts', 'test/support/postgres-broker.ts'],
    env: { PARLEY_TEST_RUNS: 'many' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
  },
});
