// Files that a typed message names with `@`, in a real terminal on the embedded service.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findMentions } from '../../../src/cli/repl/file-mentions.ts';
import type { Place } from '../../support/parley.ts';
import type { ScreenOptions, TerminalScreen } from '../../support/terminal-screen.ts';
import { entered, leave, messagesOf, paste, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

async function placeWithFiles(): Promise<Place> {
  const place = fixture.place();
  await place.output(['models']);
  writeFileSync(join(place.path, 'notes.md'), 'Buy milk.\n');
  writeFileSync(join(place.path, 'my file.txt'), 'two words');
  writeFileSync(join(place.path, 'image'), Buffer.from([0x89, 0x50, 0xff, 0]));
  mkdirSync(join(place.path, 'src'));
  return place;
}

async function open(place: Place, options: Partial<ScreenOptions> = {}): Promise<TerminalScreen> {
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 100, rows: 60, ...options }, place);
  await screen.stands('echo> ');
  return screen;
}

async function sent(place: Place, screen: TerminalScreen): Promise<readonly string[]> {
  // Ctrl-D leaves only at the prompt.
  await screen.until('an empty prompt', () => /^echo( \(.*\))?>$/.test(screen.cursorRow));
  const messages = await messagesOf(place, await leave(screen));
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

const notes = '```notes.md\nBuy milk.\n```';

test('the files are added after the text, each once, and one line names them', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  const shown = await entered(screen, 'see @notes.md, @"my file.txt" (and @notes.md)');
  expect(shown).toContain('Added notes.md (10 bytes), my file.txt (9 bytes).');
  await entered(screen, 'see @my\\ file.txt.');
  await entered(screen, '/file notes.md');
  await entered(screen, 'both @notes.md');
  const file = '```my file.txt\ntwo words\n```';
  expect(await sent(place, screen)).toEqual([
    `see @notes.md, @"my file.txt" (and @notes.md)\n\n${notes}\n\n${file}`,
    `see @my\\ file.txt.\n\n${file}`,
    `both @notes.md\n\n${notes}`,
  ]);
});

test('an address and a name stay text; a directory and a path of no file do so with a note', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  const texts = ['me@notes.md', '@Component and @user.', '"""@notes.md"""', 'in @src/ or @none.ts?'];
  for (const text of texts.slice(0, 3)) expect(await entered(screen, text)).not.toMatch(/Added|text:/);
  expect(await entered(screen, texts[3] ?? '')).toContain(
    'Sent as text: src/ (a directory), none.ts (no such file).',
  );
  expect(await sent(place, screen)).toEqual([texts[0], texts[1], '@notes.md', texts[3]]);
});

test('the size is that of the text that is sent, and a file with two paths is added once', async () => {
  const place = await placeWithFiles();
  writeFileSync(join(place.path, 'one'), '1');
  const screen = await open(place);
  expect(await entered(screen, 'see @/proc/sys/kernel/ostype @one')).toContain(
    'Added /proc/sys/kernel/ostype (6 bytes), one (1 byte).',
  );
  await entered(screen, '/file notes.md');
  await entered(screen, '/file ./notes.md');
  await screen.until('one file', () => screen.cursorRow.endsWith(' +1>'));
  expect(await entered(screen, 'see @notes.md and @src/../notes.md')).toContain('Added notes.md (10 bytes).');
  const [, second] = await sent(place, screen);
  expect(second).toBe('see @notes.md and @src/../notes.md\n\n```./notes.md\nBuy milk.\n```');
});

test('a path is found before the punctuation of any script, and a note names each path of no file', async () => {
  const place = await placeWithFiles();
  const names = [
    'notes.md。',
    'notes.md」、',
    'notes.md”',
    'résumé.md',
    'notes.md/x',
    'a.md',
    'a.md',
    'user。',
  ];
  const paths = names.map((name) => (name.startsWith('notes') ? join(place.path, name) : name));
  const { files, others } = await findMentions(paths, undefined, new AbortController().signal);
  expect(files).toEqual([join(place.path, 'notes.md')]);
  expect(others).toEqual(
    ['résumé.md', join(place.path, 'notes.md/x'), 'a.md'].map((path) => ({ path, reason: 'no such file' })),
  );
});

test('a note about very many paths names the first ones', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  const line = Array.from({ length: 12 }, (_, index) => `@${index}/x`).join(' ');
  const noted = (await entered(screen, line)).replaceAll('\n', ' ');
  expect(noted).toContain('Sent as text: 0/x (no such file), 1/x');
  expect(noted).toContain('9/x (no such file) and 2 more.');
});

test('a stopped search for files does not go on', async () => {
  await expect(findMentions(['a.md'], undefined, AbortSignal.abort(new Error('stopped')))).rejects.toThrow(
    'stopped',
  );
});

test('a message that is too long with its files is refused with advice, and its line returns', async () => {
  const place = await placeWithFiles();
  writeFileSync(join(place.path, 'half'), 'x'.repeat(600 * 1024));
  writeFileSync(join(place.path, 'other half'), 'x'.repeat(600 * 1024));
  const screen = await open(place);
  screen.type('see @half @"other half"\r');
  await screen.shows('Nothing was sent. Name fewer or smaller files.');
  await screen.stands('echo> see @half @"other half"');
});

test('a pasted @ adds no file, and neither does its message from the history', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  screen.type(`${paste('see @notes.md')}\r`);
  await screen.stands('echo (see @notes.md)> ');
  screen.type('\x1b[A\r');
  await screen.until('both replies', () => screen.text.split('\nsee @notes.md\n').length > 2);
  expect(await sent(place, screen)).toEqual(['see @notes.md', 'see @notes.md']);
});

test('a typed @ adds its file again when the line comes from the history', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  await entered(screen, 'see @notes.md');
  screen.type('\x1b[A\r');
  await screen.until('two additions', () => screen.text.split('Added notes.md').length === 3);
  await screen.until('two replies', () => screen.text.split('Buy milk.').length === 3);
  expect(await sent(place, screen)).toEqual([`see @notes.md\n\n${notes}`, `see @notes.md\n\n${notes}`]);
});

test('a file that is not text sends nothing, and the line returns', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  screen.type('what is @image\r');
  await screen.shows('The file image has the byte 0x89');
  await screen.stands('echo> what is @image');
});

test('/undo returns the whole message as text', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  await entered(screen, 'see @notes.md');
  screen.type('/undo\r');
  await screen.shows('"""');
  await screen.shows('Press Ctrl-C to clear');
  screen.type('\x03');
  expect(await entered(screen, '/redo')).toMatch(/^Restored: see @notes\.md/);
  screen.type('/undo\r');
  await screen.until('the message again', () => screen.text.split('> """').length > 2);
  screen.type('\r');
  await screen.until('the reply again', () => screen.text.split('Buy milk.').length > 3);
  expect(await sent(place, screen)).toEqual([`see @notes.md\n\n${notes}`]);
});

test('Tab completes the path', async () => {
  const place = await placeWithFiles();
  const screen = await open(place);
  screen.type('see @my\t');
  await screen.stands('echo> see @my\\ file.txt');
  screen.type('\x15see @\t');
  await screen.shows('my file.txt\nnotes.md\nsrc/');
});

test('a terminal without cursor control adds files, too', async () => {
  const place = await placeWithFiles();
  const screen = await open(place, { env: { TERM: 'dumb' } });
  screen.type('see @notes.md\r');
  await screen.shows('Added notes.md (10 bytes).');
  await screen.until('the reply', () => screen.text.includes('Buy milk.'));
  expect(await sent(place, screen)).toEqual([`see @notes.md\n\n${notes}`]);
});

test('chat sends an @ as it is', async () => {
  const place = await placeWithFiles();
  expect(await place.output(['chat', '-n', '-m', 'echo', 'see @notes.md'])).toBe('see @notes.md\n');
});
