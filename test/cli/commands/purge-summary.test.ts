// The summary of a purge as a user reads it.
import { expect, test } from 'vitest';
import { purgeSummary } from '../../../src/cli/commands/sessions/purging.ts';

const report = {
  sessions: 1,
  messages: 2,
  stored_answers: 0,
  backups_removed: [],
  facts: [
    { name: 'pages', value: 12 },
    { name: 'kept_by_postgresql', value: 'its log (WAL), backups' },
    { name: 'not_vacuumed', value: 'this user does not own the tables' },
  ],
  integrity: 'ok',
};

test('has the size only as smaller if it is smaller, and whole sentences about what is left', () => {
  const summary = (bytes: number) =>
    purgeSummary({ ...report, bytes_before: 200, bytes }, [], { ending: (words) => `${words}.` });
  expect(summary(100)).toBe(
    `Erased 1 session with 2 messages, and 0 stored answers.
The store now has 100 bytes, down from 200. Integrity check: ok.
PostgreSQL still has the bytes in: its log (WAL), backups.
The tables were not vacuumed: this user does not own the tables.`,
  );
  // The tables of PostgreSQL may grow by what the purge itself writes.
  expect(summary(300)).toContain('\nThe store now has 300 bytes. Integrity check: ok.\n');
});
