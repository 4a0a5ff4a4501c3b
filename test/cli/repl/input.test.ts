// Help with typing: the history over two runs and two terminals, Ctrl-R, Tab, and the user's editor.
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { entered, leave, messagesOf, paste, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

describe('the history', () => {
  test('is there in the next run of the same profile only, in a private file', async () => {
    const place = fixture.place();
    const first = fixture.open(['repl', '-m', 'echo'], {}, place);
    await first.stands('echo> ');
    for (const line of ['one', 'two\\\rlines', 'one', '/status']) {
      const prompts = first.text.split('\necho').length;
      await first.typeLines(`${line}\r`);
      await first.until('the next prompt', () => first.text.split('\necho').length > prompts);
    }
    await leave(first);
    const file = join(place.dataDirectory, 'history', 'local.jsonl');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual(['one', 'two\nlines', 'one', '/status']);

    const second = fixture.open(['repl', '-m', 'echo'], {}, place);
    await second.stands('echo> ');
    for (const row of ['echo> /status', 'echo> one', '  lines']) {
      second.type('\x1b[A');
      await second.stands(row);
    }
    // Up first moves through the lines of the message, and there is no third line.
    second.type('\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B');
    await second.stands('echo> /status');
    second.type('\x1b[B');
    await second.stands('echo> ');
    await leave(second);

    const env = { PARLEY_URL: 'http://127.0.0.1:9', PARLEY_API_KEY: 'none' };
    const other = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await other.stands('echo> ');
    other.type('\x1b[Anothing else');
    await other.stands('echo> nothing else');
  });

  test('of two terminals at once loses no line', async () => {
    const place = fixture.place();
    await place.output(['models']);
    const screens = [0, 1].map(() => fixture.open(['repl', '-m', 'echo'], {}, place));
    for (let line = 0; line < 5; line++) {
      for (const [index, screen] of screens.entries()) {
        await screen.until('the prompt', () => screen.text.endsWith('>'));
        screen.type(`line ${line} of ${index}\r`);
      }
      for (const [index, screen] of screens.entries()) {
        await screen.until('answered', () => screen.text.split(`line ${line} of ${index}`).length > 2);
      }
    }
    const lines = readFileSync(join(place.dataDirectory, 'history', 'local.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean);
    expect(lines).toHaveLength(10);
    expect(new Set(lines).size).toBe(10);
  });

  test('is searched with Ctrl-R', async () => {
    const screen = fixture.open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    for (const line of ['an apple', 'a pear', 'apple pie']) {
      screen.type(`${line}\r`);
      await screen.until('answered', () => screen.text.includes(`\n${line}\n`) && screen.text.endsWith('>'));
    }
    screen.type('draft\x12app');
    await screen.until('found', () => screen.rows.includes('(search "app") apple pie'));
    screen.type('\x12');
    await screen.until('older', () => screen.rows.includes('(search "app") an apple'));
    screen.type('x');
    await screen.until('none', () => screen.rows.includes('(no match "appx")'));
    screen.type('\x7f\x7fp\x1b[C');
    await screen.until('taken', () => screen.cursorRow === 'echo (an apple)> apple pie');
    screen.type('\x05!\r');
    await screen.shows('apple pie!');
  });
});

describe('Tab', () => {
  test('completes commands and their arguments, and shows the choices', async () => {
    const place = fixture.place();
    await place.output(['sessions', 'create', '--title', 'Groceries for Sunday']);
    writeFileSync(join(place.path, 'notes.md'), 'Buy milk.\n');
    writeFileSync(join(place.path, 'notes-2.md'), 'Buy bread.\n');
    symlinkSync('config', join(place.path, 'settings'));
    symlinkSync('sent-away', join(place.path, 'sent-away'));
    const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
    await screen.stands('echo> ');
    for (const [keys, row] of [
      ['/he\t', 'echo> /help'],
      ['/mo\tel\t', 'echo> /mode eliza'],
      ['/resume groc\t', 'echo> /resume groceries for Sunday'],
      ['/file no\t', 'echo> /file notes'],
      ['/file notes-\t', 'echo> /file notes-2.md'],
      // A link to a directory, and one to itself.
      ['/file set\tconfig.j\t', 'echo> /file settings/config.json'],
      ['/file sent\t', 'echo> /file sent-away'],
    ] as const) {
      screen.type(keys);
      await screen.stands(row);
      screen.type('\x15');
      await screen.stands('echo> ');
    }
    screen.type('/re\t\t');
    await screen.until('the choices', () =>
      screen.text.includes('/resume\n/retry\n/regenerate\n/redo\n/restore\necho> /re'),
    );
    // A second Tab does not repeat the same list. It shows another list, and the same one after the line was cleared.
    screen.type('\t\t');
    await screen.stands('echo> /re');
    screen.type('s\t');
    await screen.until('others', () => screen.text.endsWith('/resume\n/restore\necho> /res'));
    expect(screen.text.split('/retry\n')).toHaveLength(2);
    screen.type('\x03');
    await screen.stands('echo> ');
    screen.type('/re\t');
    await screen.until('listed', () =>
      screen.text.endsWith('/resume\n/retry\n/regenerate\n/redo\n/restore\necho> /re'),
    );
    screen.type('\x15/resume gro\t\r');
    await screen.until('resumed', () => screen.cursorRow === 'echo (Groceries for Sunday)>');
  });
});

test('/edit and Ctrl-X Ctrl-E open the message in an editor, and the edited text is at the prompt', async () => {
  const place = fixture.place();
  const editor = join(place.path, 'editor');
  writeFileSync(
    editor,
    '#!/bin/sh\n[ -t 0 ] && [ "$1" = -w ] && { cat "$2"; [ -s "$2" ] && echo; echo "/from the editor"; } > "$2.new"; mv "$2.new" "$2"\n',
  );
  chmodSync(editor, 0o755);
  const screen = fixture.open(['repl', '-m', 'echo'], { env: { EDITOR: `${editor} -w`, VISUAL: '' } }, place);
  await screen.stands('echo> ');
  screen.type('begun\x18\x05');
  await screen.stands('  /from the editor');
  expect(screen.rows).toContain('echo> begun');
  screen.type('\r');
  await screen.until('answered', () => screen.text.endsWith('\n\necho (begun)>'));
  screen.type('/edit next\r');
  await screen.stands('  /from the editor');
  screen.type('\r');
  await screen.until('answered', () => screen.text.split('\n\necho (begun)>').length === 3);
  // A new session has no message to edit.
  await entered(screen, '/new');
  screen.type('/edit\r');
  await screen.until('written', () => screen.cursorRow.endsWith('echo> //from the editor'));
  screen.type('\x15');
  await screen.stands('echo> ');
  await entered(screen, '/resume begun');
  const contents = (await messagesOf(place, await leave(screen))).map(({ content }) => content);
  expect([contents[0], contents[2]]).toEqual(['begun\n/from the editor', 'next\n/from the editor']);
});

test('a missing editor is reported, and the line stays', async () => {
  const screen = fixture.open(['repl', '-m', 'echo'], { env: { VISUAL: 'no-such-editor' } });
  await screen.stands('echo> ');
  screen.type('begun\x18\x05');
  await screen.shows('The editor no-such-editor cannot be run.');
  await screen.stands('echo> begun');
});

describe('an editor', () => {
  /** Waits until the editor has ended. It says so on the terminal. */
  async function edited(screen: TerminalScreen): Promise<void> {
    const count = screen.text.split('was here').length;
    screen.type('\x18\x05');
    await screen.until(
      'the prompt after the editor',
      () => screen.text.split('was here').length > count && screen.cursorRow.startsWith('echo'),
    );
  }

  test.each([
    ['exits with 1', 'echo was here; false'],
    ['is not there', 'echo was here; no-such-editor'],
    ['changes nothing', 'echo was here; true'],
  ])('that %s loses no later key', async (_what, editor) => {
    const screen = fixture.open(['repl', '-m', 'echo'], { env: { VISUAL: editor } });
    await screen.stands('echo> ');
    screen.type('begun');
    await edited(screen);
    screen.type('XYZ');
    await screen.stands('echo> begunXYZ');
    await edited(screen);
    screen.type('\x15');
    await screen.stands('echo> ');
    screen.type('more');
    await edited(screen);
    screen.type('\x03');
    await screen.stands('echo> ');
  });

  test('that leaves other modes of the terminal gets the modes of the shell the next time', async () => {
    const place = fixture.place();
    const modes = join(place.path, 'modes');
    const env = { VISUAL: `edit() { stty -g >> '${modes}'; echo was here; stty raw -echo; }; edit` };
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    await edited(screen);
    await edited(screen);
    const [first, second] = readFileSync(modes, 'utf8').split('\n');
    expect(second).toBe(first);
  });

  test.each([
    ['text and keys', ' more\x7f!\x1b[D?', ['echo> begun, written mor?!']],
    // No key that was not shown at the prompt is sent or dropped.
    ['Enter', ' more\r', ['echo> begun, written more']],
    ['Ctrl-C, Ctrl-D and Ctrl-Z', ' more\x03\x04\x1a', ['echo> begun, written more']],
    ['a paste and keys', `${paste('/a\nb')}c\x7fd`, ['echo> begun, written/a', '  bd']],
    ['lines and keys', ' one\rtwo\x7f\x7fo', ['echo> begun, written one', '  to']],
  ])('does not use %s as keys of the next prompt', async (_what, keys, rows) => {
    const env = { VISUAL: 'printf ", written" >> "$1"; echo was here; true' };
    const place = fixture.place();
    await place.output(['models']);
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    screen.type('begun');
    await screen.stands('echo> begun');
    screen.type(`\x18\x05${keys}`);
    const stands = (line: string) => screen.until(line, () => screen.text.endsWith(`was here\n${line}`));
    await stands(rows.join('\n'));
    // The key waits there.
    await delay(100);
    screen.type('!');
    await stands(`${rows.join('\n')}!`);
  });

  test('that changes nothing leaves a command a command', async () => {
    const place = fixture.place();
    const env = { VISUAL: 'echo was here; true' };
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    for (const [line, title] of [
      ['//lit', '/lit'],
      ['/title Another', 'Another'],
      ['"""a block"""', 'Another'],
    ] as const) {
      screen.type(line);
      await edited(screen);
      screen.type('\r');
      await screen.until(`sent ${line}`, () => screen.cursorRow === `echo (${title})>`);
    }
    const contents = (await messagesOf(place, await leave(screen))).map(({ content }) => content);
    expect([contents.length, contents[0], contents[2]]).toEqual([4, '/lit', 'a block']);
  });

  test('gets the message without quotes, and its text is a message, even if it looks like a command', async () => {
    const place = fixture.place();
    const editor = join(place.path, 'editor');
    writeFileSync(editor, '#!/bin/sh\nprintf \'"""%s"""\' "$(cat "$1")" > "$1"\n', { mode: 0o755 });
    const screen = fixture.open(['repl', '-m', 'echo'], { env: { VISUAL: editor } }, place);
    await screen.stands('echo> ');
    screen.type('//edited\x18\x05');
    await screen.until('written', () => screen.text.includes('"""/edited"""'));
    screen.type('\r');
    await screen.until('sent', () => /\n\necho \(.*>$/.test(screen.text));
    screen.type('/edit again\r');
    await screen.until('written', () => screen.text.includes('"""again"""'));
    screen.type('\r');
    await screen.until('sent', () => screen.text.split('\n\necho (').length === 3);
    const contents = (await messagesOf(place, await leave(screen))).map(({ content }) => content);
    expect([contents[0], contents[2]]).toEqual(['"""/edited"""', '"""again"""']);
  });
});

test('reports of the terminal are no text, and Shift-Enter is a new line in both encodings', async () => {
  const screen = fixture.open(['repl', '-m', 'echo']);
  await screen.stands('echo> ');
  screen.type('\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?64;1;2c\x1b[<0;12;7M\x1b[I\x1b[12;40Rone');
  screen.type('\x1b[13;2utwo\x1b[27;2;13~three');
  await screen.stands('  three');
  expect(screen.text).toMatch(/echo> one\n {2}two\n {2}three$/);
});
