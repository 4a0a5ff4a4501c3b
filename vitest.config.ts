// How the tests run: in forks, one more than the two cores that the suite must fit, for many tests wait. The files of the first project
// share a process, which loads each module once; those of the second measure memory, load or this process, and have one of their own.
import { defineConfig } from 'vitest/config';

const sharing = ['cli', 'wire', 'local', 'engine', 'contract', 'remote'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    setupFiles: ['test/support/no-warnings.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'sharing', include: sharing, isolate: false } },
      { extends: true, test: { name: 'alone', include: ['test/**/*.test.ts'], exclude: sharing } },
    ],
  },
});
