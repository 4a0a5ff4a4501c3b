// A search result stays on its own lines, whatever a server puts into its fields.
import { expect, test } from 'vitest';
import { runSearch } from '../../../src/cli/commands/sessions/search.ts';
import { HostileServer } from '../terminal/hostile-server.ts';

test('no title, role or snippet looks like a line of another session', async () => {
  const server = new HostileServer(false);
  server.says({ modes: [], titles: ['one\n\nses_forged  another\r\n\tuser: no'], messages: [] });
  await runSearch('one', { limit: 20 }, server.context);
  const one = 'one  ses_forged  another  user: no';
  const [first, second, ...rest] = server.taken().split('\n');
  expect(first).toBe(`${one}  2026-01-01 00:00 · 2 messages · #${one} · ses_0`);
  expect(second).toMatch(new RegExp(`^  ${one}, .*: ${one}$`));
  expect(rest.slice(0, 1)).toEqual(['']);
  expect(rest.join('\n')).not.toContain('forged');
});
