// Every slash command, in a real terminal on the embedded service.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Page, Session } from '../../../src/service/session.ts';
import type { Place } from '../../support/parley.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { entered, leave, messagesOf, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

async function open(place: Place = fixture.place(), columns = 100): Promise<TerminalScreen> {
  await place.output(['models']);
  const screen = fixture.open(['repl', '-m', 'echo'], { columns, rows: 40 }, place);
  await screen.stands('echo> ');
  return screen;
}

async function sessionId(screen: TerminalScreen): Promise<string> {
  return /session_id: (\S+)/.exec(await entered(screen, '/status'))?.[1] ?? '';
}

test('/help names each command, and the keys', async () => {
  const help = await entered(await open(), '/help');
  const names = [...help.matchAll(/^\/(\w+)/gm)].map(([, name]) => name);
  expect(names).toEqual(
    'help mode system param template new sessions resume search title history retry regenerate undo redo fork back pin archive tag delete restore copy save file edit status quit exit'.split(
      ' ',
    ),
  );
  expect(help).toContain('Ctrl-D');
});

test('/help is complete at 20, 40 and 80 columns', async () => {
  const place = fixture.place();
  const wordsOf = (text: string) => text.split(/\s+/);
  const wide = wordsOf(await entered(await open(place, 200), '/help'));
  for (const columns of [20, 40, 80]) {
    const help = await entered(await open(place, columns), '/help');
    expect(wordsOf(help)).toEqual(wide);
    expect(Math.max(...help.split('\n').map((row) => row.length))).toBeLessThanOrEqual(columns);
  }
});

test('/mode lists the modes and selects another; a missing one changes nothing', async () => {
  const screen = await open();
  expect(await entered(screen, '/mode')).toMatch(/^DEFAULT +MODE[\s\S]*\*\s+eliza/);
  expect(await entered(screen, '/mode nonsense')).toMatch(
    /^There is no mode "nonsense". \(UNKNOWN_MODE\) Modes: /,
  );
  await screen.stands('echo> ');
  await entered(screen, '/mod eliza');
  await screen.stands('eliza> ');
  expect(await entered(screen, 'My name is Ada.')).toBe(
    'Pleased to meet you, Ada. What brings you here?\neliza is not a language model. To set one up: parley setup',
  );
});

test('/new starts a session, /title names it, and /status shows it', async () => {
  const screen = await open();
  await entered(screen, 'first');
  const first = await sessionId(screen);
  await entered(screen, '/title A better one');
  await screen.stands('echo (A better one)> ');
  await entered(screen, '/new');
  await screen.stands('echo> ');
  expect(await entered(screen, '/status')).toContain('the next message creates one');
  expect(await entered(screen, '/title')).toContain('This conversation has no session yet. (USAGE)');
  await entered(screen, '/title Before a word');
  await screen.stands('echo (Before a word)> ');
  expect(await entered(screen, 'said')).toBe('said');
  expect(await entered(screen, '/status')).toMatch(/\ntitle: Before a word$/m);
  await entered(screen, '/new With a title');
  await screen.stands('echo (With a title)> ');
  expect(await entered(screen, '/title')).toBe('With a title');
  const second = await sessionId(screen);
  expect(second).not.toBe(first);
  expect(await entered(screen, '/status')).toMatch(
    /^mode: echo\nprofile: local\nurl: embedded\nsession_id: \S+\ntitle: With a title\n/,
  );
});

test('/history shows the session, and /save writes it into a new file and never over an existing one', async () => {
  const place = fixture.place();
  const screen = await open(place);
  await entered(screen, 'keep this');
  expect(await entered(screen, '/history')).toBe('You · now\nkeep this\n\necho · now\nkeep this');
  expect(await entered(screen, '/save talk.md')).toMatch(/^Wrote \d+ bytes to talk.md.$/);
  const saved = readFileSync(join(place.path, 'talk.md'), 'utf8');
  expect(saved).toMatch(/^## user, \S+\n\nkeep this\n\n## assistant \(echo\), \S+\n\nkeep this\n$/);
  await entered(screen, 'more');
  expect(await entered(screen, '/save talk.md')).toContain('The file talk.md already exists. (USAGE)');
  expect(readFileSync(join(place.path, 'talk.md'), 'utf8')).toBe(saved);
  expect(await entered(screen, '/save talk.html')).toMatch(/^Wrote \d+ bytes to talk.html.$/);
  expect(readFileSync(join(place.path, 'talk.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  expect(await entered(screen, '/save nowhere/talk.md')).toContain(
    'nowhere/talk.md cannot be written (ENOENT)',
  );
  expect(await entered(screen, '/save')).toContain('/save FILE');
});

test('/delete deletes the session, and /restore restores and continues it', async () => {
  const place = fixture.place();
  const screen = await open(place);
  await entered(screen, 'precious');
  const id = await sessionId(screen);
  expect(await entered(screen, '/delete')).toBe(`deleted ${id}\n/restore brings it back.`);
  await screen.stands('echo> ');
  expect((await place.parley(['sessions', 'get', id])).status).toBe(5);
  expect(await entered(screen, '/restore')).toBe(`restored ${id}`);
  await screen.stands('echo (precious)> ');
  await entered(screen, 'again');
  expect(await leave(screen)).toBe(id);
  expect(await messagesOf(place, id)).toHaveLength(4);
});

test('/pin, /archive and /tag change the ordering of the session, and off undoes them', async () => {
  const place = fixture.place();
  const screen = await open(place);
  expect(await entered(screen, '/pin')).toContain('This conversation has no session yet');
  await entered(screen, 'precious');
  const id = await sessionId(screen);
  const order = async () => {
    const { pinned, archived, tags } = await place.answer<Session>(['sessions', 'get', id]);
    return { pinned, archived, tags };
  };
  expect(await entered(screen, '/tag')).toBe('(no tags)');
  expect(await entered(screen, '/tag +work later -none')).toBe('later work');
  expect(await entered(screen, '/tag')).toBe('later work');
  expect(await entered(screen, '/pin')).toBe(`pinned ${id}`);
  expect(await entered(screen, '/archive')).toBe(`archived ${id}`);
  expect(await order()).toEqual({ pinned: true, archived: true, tags: ['later', 'work'] });
  expect(await entered(screen, '/pin off')).toBe(`unpinned ${id}`);
  expect(await entered(screen, '/archive off')).toBe(`unarchived ${id}`);
  expect(await entered(screen, '/tag -later')).toBe('work');
  expect(await order()).toEqual({ pinned: false, archived: false, tags: ['work'] });
  expect(await entered(screen, '/archive old')).toContain('takes no argument except off');
  await entered(screen, 'goes on');
  expect(await messagesOf(place, id)).toHaveLength(4);
});

test('/delete of another session accepts a title, too, and keeps this one', async () => {
  const place = fixture.place();
  await place.output(['chat', '-m', 'echo', 'Old stuff']);
  const screen = await open(place);
  await entered(screen, 'mine');
  expect(await entered(screen, '/delete old')).toMatch(
    /^deleted ses_\w+\n\/restore brings "Old stuff" back\.$/,
  );
  await screen.stands('echo (mine)> ');
  const missing = (await entered(screen, '/delete old')).replaceAll(/\s+/g, ' ');
  expect(missing).toContain('(SESSION_NOT_FOUND) /sessions lists the sessions.');
  expect(missing).not.toContain('parley sessions list');
});

test('/restore of a session that is not deleted names the command that lists the deleted ones', async () => {
  const screen = await open(fixture.place());
  const missing = (await entered(screen, '/restore never there')).replaceAll(/\s+/g, ' ');
  expect(missing).toContain('See: parley sessions list --deleted');
  expect(missing).not.toContain('/new starts a new one');
});

test('a session that is missing is named as at any other failure of the REPL', async () => {
  const place = fixture.place();
  const screen = await open(place);
  const failure = async (line: string) => (await entered(screen, line)).replaceAll(/\s+/g, ' ');
  expect(await failure('/restore nosuch')).toBe(
    'No session has the id, end of an id, or title "nosuch". (SESSION_NOT_FOUND) Only a deleted session can be restored. See: parley sessions list --deleted',
  );
  await entered(screen, 'precious');
  const id = await sessionId(screen);
  await place.output(['sessions', 'delete', id]);
  for (const line of ['/pin', '/tag +work', '/delete'])
    expect(await failure(line)).toMatch(
      new RegExp(`^There is no session ${id} here. \\(SESSION_NOT_FOUND\\) It may be deleted`),
    );
});

test('/resume accepts an id or a part of a title, and shows the last messages', async () => {
  const place = fixture.place();
  const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'Groceries for Sunday']))
    .session_id;
  const other = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'Groceries for Monday']))
    .session_id;
  const screen = await open(place);
  expect(await entered(screen, '/resume sunday')).toBe('> Groceries for Sunday\nGroceries for Sunday');
  await screen.stands('echo (Groceries for Sunday)> ');
  expect(await sessionId(screen)).toBe(id);
  const several = await entered(screen, '/resume groceries');
  expect(several.split('\n')).toEqual([
    '"groceries" matches 2 sessions. (USAGE)',
    expect.stringMatching(
      new RegExp(`^  ${other}  "Groceries for Monday", \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d$`),
    ),
    expect.stringMatching(new RegExp(`^  ${id}  "Groceries for Sunday", `)),
    expect.stringMatching(/^Nothing was done\./),
  ]);
  expect(await entered(screen, '/resume nothing like it')).toContain(
    'No session has the id, end of an id, or title "nothing like it".',
  );
  expect(await entered(screen, '/resume ses_00000000000000000000000000')).toContain('(SESSION_NOT_FOUND)');
  await entered(screen, '/new');
  await entered(screen, `/resume ${id}`);
  await screen.stands('echo (Groceries for Sunday)> ');
});

test('/resume and -s continue in the mode of the session, and -m changes it', async () => {
  const place = fixture.place();
  await place.output(['chat', '-m', 'eliza', 'Hello there']);
  const chat = ['chat', '-m', 'echo', 'Groceries'];
  const id = (await place.answer<{ session_id: string }>(chat)).session_id;
  const screen = fixture.open(['repl', '-s', id], { columns: 100, rows: 40 }, place);
  await screen.stands('echo (Groceries)> ');
  await entered(screen, '/resume hello');
  await screen.stands('eliza (Hello there)> ');
  await entered(screen, '/resume groc');
  await screen.stands('echo (Groceries)> ');
  await leave(screen);
  const other = fixture.open(['repl', '-s', id, '-m', 'eliza'], { columns: 100, rows: 40 }, place);
  await other.stands('eliza (Groceries)> ');
});

test('/search finds sessions by their messages', async () => {
  const place = fixture.place();
  await place.output(['chat', '-m', 'echo', 'A needle in the hay']);
  const screen = await open(place);
  const found = await entered(screen, '/search needle');
  expect(found).toContain('A needle in the hay');
  expect(found).toMatch(/To continue the best match: \/resume ses_\w+$/);
  expect(await entered(screen, '/search thimble')).toContain('No session matches.');
  expect(await entered(screen, '/search')).toContain('/search WORDS');
});

test('a title that would control the terminal is harmless in the list, when it is selected, among choices and at the prompt', async () => {
  const place = fixture.place();
  await place.output(['sessions', 'create', '--title', 'p\u202ex']);
  const screen = await open(place);
  screen.type('/sessions\r');
  await screen.shows('Which session?');
  await screen.until('the list', () => screen.rows.some((row) => row.includes('p\\u{202e}x')));
  screen.type('\r');
  await screen.stands('echo (p\\u{202e}x)> ');
  screen.type('/resume p\t\t');
  await screen.until('completed', () => screen.cursorRow.endsWith('/resume p\\u{202e}x'));
  expect(screen.bytes).not.toContain('\u202e');
});

describe('/copy', () => {
  test('copies the last reply of a session that is continued', async () => {
    const place = fixture.place();
    const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'of before'])).session_id;
    const screen = await open(place);
    await entered(screen, '/resume of before');
    expect(await entered(screen, '/copy')).toBe('Copied 9 characters (with OSC 52).');
    expect(screen.bytes).toContain(`\x1b]52;c;${Buffer.from('of before').toString('base64')}\x07`);
    await entered(screen, '/new Empty');
    expect(await entered(screen, '/copy')).toContain('There is no reply to copy yet.');

    const again = fixture.open(['repl', '-m', 'echo', '-s', id], { columns: 100 }, place);
    await again.stands('echo (of before)> ');
    expect(await entered(again, '/copy')).toBe('Copied 9 characters (with OSC 52).');
  });

  test('copies the last reply to the clipboard of the terminal, and of the desktop', async () => {
    const place = fixture.place();
    const tool = join(place.path, 'bin', 'xclip');
    writeFileSync(tool, `#!/bin/sh\ncat > '${place.path}/clipboard'\n`, { mode: 0o755 });
    const screen = fixture.open(['repl', '-m', 'echo'], { env: { DISPLAY: ':0' } }, place);
    await screen.stands('echo> ');
    expect(await entered(screen, '/copy')).toContain('There is no reply to copy yet.');
    await entered(screen, 'a 你好 b');
    expect(await entered(screen, '/copy')).toBe('Copied 6 characters (with xclip and OSC 52).');
    expect(readFileSync(join(place.path, 'clipboard'), 'utf8')).toBe('a 你好 b');
    expect(screen.bytes).toContain(`\x1b]52;c;${Buffer.from('a 你好 b').toString('base64')}\x07`);
    // A regeneration without a reply removes none.
    const { items } = await place.answer<Page<Session>>(['sessions', 'list']);
    await place.output(['sessions', 'delete', items[0]?.session_id ?? '', '--yes']);
    screen.type('more\r');
    await screen.shows('(SESSION_NOT_FOUND)');
    await screen.stands('echo (a 你好 b)> more');
    screen.type('\x03');
    await screen.stands('echo (a 你好 b)> ');
    screen.type('/copy\r');
    await screen.until('copied twice', () => screen.text.split('Copied 6 characters').length === 3);
  });

  test('gives pbcopy of macOS text in UTF-8, whatever the locale', async () => {
    const place = fixture.place();
    const tool = join(place.path, 'bin', 'pbcopy');
    writeFileSync(tool, `#!/bin/sh\necho "$LC_ALL" > '${place.path}/locale'\ncat > /dev/null\n`, {
      mode: 0o755,
    });
    const screen = fixture.open(['repl', '-m', 'echo'], { env: { LC_ALL: 'C' } }, place);
    await screen.stands('echo> ');
    await entered(screen, '好');
    expect(await entered(screen, '/copy')).toBe('Copied 1 character (with pbcopy and OSC 52).');
    expect(readFileSync(join(place.path, 'locale'), 'utf8')).toBe('en_US.UTF-8\n');
  });
});

test('/file adds files to the next message, and only to that', async () => {
  const place = fixture.place();
  writeFileSync(join(place.path, 'notes.md'), 'Buy milk.\n');
  const screen = await open(place);
  expect(await entered(screen, '/file none.md')).toContain('there is no such file. (USAGE)');
  expect(await entered(screen, '/file notes.md')).toBe('Attached notes.md (10 bytes) to the next message.');
  await screen.stands('echo +1> ');
  await entered(screen, 'What is missing?');
  await entered(screen, 'next');
  const contents = (await messagesOf(place, await leave(screen))).map(({ content }) => content);
  expect([contents[0], contents[2]]).toEqual(['What is missing?\n\n```notes.md\nBuy milk.\n```', 'next']);
});

test.each([
  ['in quotes', '"my notes.md"'],
  ['with a backslash', 'my\\ notes.md'],
  ['as it is', 'my notes.md'],
])('/file and /save take a path with a space %s, and Tab completes it', async (_how, path) => {
  const place = fixture.place();
  writeFileSync(join(place.path, 'my notes.md'), 'Buy milk.\n');
  const screen = await open(place);
  const attached = 'Attached my notes.md (10 bytes) to the next message.';
  expect(await entered(screen, `/file ${path}`)).toBe(attached);
  await screen.stands('echo +1> ');
  screen.type(`/file ${path.slice(0, 6)}`);
  screen.type(`\t${path.startsWith('"') ? '"' : ''}\r`);
  await screen.until('attached again', () => screen.text.split(attached).length === 3);
  await screen.stands('echo +1> ');
  await entered(screen, 'hello');
  expect(await entered(screen, `/save ${path}`)).toContain('The file my notes.md already exists. (USAGE)');
});

test('an attached file that is gone at the message is reported with the way to remove it', async () => {
  const place = fixture.place();
  writeFileSync(join(place.path, 'notes.md'), 'Buy milk.\n');
  const screen = await open(place);
  await entered(screen, '/file notes.md');
  rmSync(join(place.path, 'notes.md'));
  screen.type('Read it\r');
  const remedy = '/file alone removes the attached files.';
  await screen.until('the remedy', () => screen.text.replaceAll('\n', ' ').includes(remedy));
  await screen.stands('echo +1> Read it');
});

test('the name of an attached file is shown on one line, because a part of it could look like another message', async () => {
  const place = fixture.place();
  writeFileSync(join(place.path, 'a\nb.md'), 'Buy milk.\n');
  const screen = await open(place);
  screen.type('/file a\x1b\rb.md\r');
  await screen.shows('Attached a b.md (10 bytes) to the next message.');
});

test('/file of the terminal is refused, and the keyboard still works', async () => {
  const screen = await open(fixture.place());
  expect(await entered(screen, '/file /dev/tty')).toContain(
    'The file /dev/tty cannot be read: it is a device. (USAGE)',
  );
  expect(await entered(screen, 'hello')).toBe('hello');
});

test('/retry of an answered message says that it is answered, and sends nothing', async () => {
  const place = fixture.place();
  const screen = await open(place);
  expect(await entered(screen, '/retry')).toContain('There is no message to send again.');
  await entered(screen, 'once');
  expect(await entered(screen, '/retry')).toBe(
    'The last reply is complete; /regenerate asks for another one.',
  );
  expect(await messagesOf(place, await leave(screen))).toHaveLength(2);
});

test('a prefix of several commands lists them, and does nothing', async () => {
  const place = fixture.place();
  const screen = await open(place);
  expect(await entered(screen, '/re')).toBe(
    '/re is ambiguous: /resume, /retry, /regenerate, /redo, /restore. Nothing was done.',
  );
  expect(await entered(screen, '/sav x y')).toContain('This conversation has no session yet.');
  expect(existsSync(join(place.path, 'x y'))).toBe(false);
});

test.each(['exit', ' quit '])('the word %s alone ends the REPL, and is no message', async (word) => {
  const place = fixture.place();
  const screen = await open(place);
  expect(await entered(screen, '"""exit"""')).toBe('exit');
  screen.type(`${word}\r`);
  expect(await screen.ended).toEqual({ status: 0, signal: 0 });
  const id = /parley repl -s (\S+)/.exec(screen.text)?.[1] ?? '';
  expect((await messagesOf(place, id)).map(({ content }) => content)).toEqual(['exit', 'exit']);
});

test('/quit ends the REPL, and names the command that continues', async () => {
  const screen = await open();
  await entered(screen, 'hello');
  screen.type('/q\r');
  expect(await screen.ended).toEqual({ status: 0, signal: 0 });
  expect(screen.text).toMatch(/\nContinue with: parley repl -s ses_\w{26}$/);
});
