// The long form of the tests: properties with huge counts and texts of great length. `npm run test:long`; each file states its figures.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.long.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
  },
});
