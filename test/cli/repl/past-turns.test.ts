// A session is taken up again at once, however long its last messages are and whatever they are made of.
import { afterEach, expect, test } from 'vitest';
import { ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

test('the end of long messages is shown without a wait', async () => {
  const place = fixture.place();
  const session = await place.newSession();
  for (const message of [`${'\n'.repeat(60_000)}lines`, `${'漢字'.repeat(30_000)}wide`])
    await place.output(['chat', '-m', 'echo', '-s', session], { stdin: message });
  const begun = performance.now();
  const screen = fixture.open(['repl', '-m', 'echo', '-s', session], { columns: 40, rows: 12 }, place);
  await screen.shows('echo>');
  expect(screen.text).toContain('漢字漢字wide');
  expect(performance.now() - begun).toBeLessThan(8000);
});
