// A session is continued at once, however long its last messages are.
import { afterEach, expect, test } from 'vitest';
import { ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

test('the end of long messages is shown at once', async () => {
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

test('the earlier replies are rendered as new ones are', async () => {
  const place = fixture.place();
  const reply = '# Title\n\n- one **bold** word\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet x;\n```\n';
  const session = await place.newSession();
  await place.output(['chat', '-m', 'echo', '-s', session], { stdin: reply });
  const shown = async (words: readonly string[]) => {
    const screen = fixture.open(
      ['repl', '-m', 'echo', '-s', session, ...words],
      { columns: 60, rows: 40 },
      place,
    );
    await screen.shows('echo>');
    return screen.text.slice(screen.text.lastIndexOf('let x;\n  ```'));
  };
  const rendered = await shown([]);
  expect(rendered).toMatch(/\n *Title\n/);
  expect(rendered).toContain('• one bold word');
  expect(rendered).not.toMatch(/\|---\|/);
  expect(await shown(['--raw'])).toContain('- one **bold** word');
});
