// How the tests run: in forks, one more than the two cores that the suite must fit, for many tests wait. The files of the first project
// share a process, which loads each module once; those of the second measure memory, load or this process, and have one of their own.
import { defineConfig } from 'vitest/config';

const alone = [
  // It reads V8's cache of code, which holds for the flags of V8 that a process has: src/http sets one.
  'test/bin/parley.test.ts',
  'test/package.test.ts',
  'test/server/{body-memory,large-bodies,load,slow-clients}.test.ts',
  'test/store/sqlite/{processes,store-processes,writer}.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/support/memory-directory.ts'],
    setupFiles: ['test/support/no-warnings.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Two busy cores may take long: a condition that is met ends the wait.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'sharing',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          isolate: false,
          globalSetup: ['test/support/postgres-broker.ts'],
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
