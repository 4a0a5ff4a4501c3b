// /edit with a message that cannot be stored: the text returns to the prompt, because it is stored nowhere.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { entered, leave, messagesOf, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

async function openWithEditor(script: string) {
  const place = fixture.place();
  const editor = join(place.path, 'editor');
  writeFileSync(editor, `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  const screen = fixture.open(['repl', '-m', 'echo'], { env: { EDITOR: editor, VISUAL: '' } }, place);
  await screen.stands('echo> ');
  await entered(screen, 'one');
  return { place, screen };
}

test('a message that is too long returns to the prompt, and /redo restores the turn', async () => {
  const { place, screen } = await openWithEditor('head -c 1100000 /dev/zero | tr "\\0" x > "$1"');
  screen.type('/edit\r');
  await screen.stands('echo (one)> [pasted 1100000 characters]');
  expect(screen.text).toContain('The message has 1100000 bytes; the limit is 1048576. (PAYLOAD_TOO_LARGE)');
  expect(screen.text).toContain(
    'The last turn was undone. /redo restores it until you send another message.',
  );
  screen.type('\x15');
  await screen.stands('echo (one)> ');
  expect(await entered(screen, '/redo')).toBe('Restored: one');
  const stored = await messagesOf(place, await leave(screen));
  expect(stored.map(({ content }) => content)).toEqual(['one', 'one']);
});

test('a message for a session that another terminal deleted returns to the prompt', async () => {
  const { screen } = await openWithEditor('parley sessions delete --all --yes; echo a long text > "$1"');
  screen.type('/edit\r');
  await screen.stands('echo (one)> a long text');
  expect(screen.text).toContain('(SESSION_NOT_FOUND)');
  expect(screen.text).not.toContain('was undone');
});

test('a turn that another terminal added in the meantime is not undone', async () => {
  const { place, screen } = await openWithEditor('parley chat -n -c two; echo a changed one > "$1"');
  screen.type('/edit\r');
  await screen.stands('echo (one)> a changed one');
  expect(screen.text).toContain('Another terminal changed the session');
  expect(screen.text).not.toContain('/redo');
  screen.type('\x15');
  await screen.stands('echo (one)> ');
  const stored = await messagesOf(place, await leave(screen));
  expect(stored.map(({ content }) => content)).toEqual(['one', 'one', 'two', 'two']);
});
