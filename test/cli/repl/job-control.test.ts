// Ctrl-Z and fg: at the prompt, during a reply, and in a question. The shell gets its terminal back as it was, and the REPL continues.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPacedServer, type PacedServer } from '../../support/paced-server.ts';
import type { Variables } from '../../support/parley.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { terminalSettings } from './person.ts';
import { leave, ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: PacedServer;
beforeAll(async () => {
  server = await openPacedServer();
});
afterEach(() => fixture.close());
afterAll(() => server.close());

async function openShell(place = fixture.place(), env: Variables = {}): Promise<TerminalScreen> {
  const screen = fixture.keep(place.shellScreen({ columns: 120, rows: 50, env: { NO_COLOR: '1', ...env } }));
  await screen.stands('shell$ ');
  return screen;
}

/** Waits until the shell has the terminal. */
async function stop(screen: TerminalScreen): Promise<void> {
  const count = screen.text.split('Stopped').length;
  screen.type('\x1a');
  await screen.until(
    'the shell',
    () => screen.text.split('Stopped').length > count && screen.cursorRow === 'shell$',
  );
}

test('at the prompt, fg shows the line again', async () => {
  const screen = await openShell();
  const settings = await terminalSettings(screen);
  screen.type('parley repl -m echo\r');
  await screen.stands('echo> ');
  screen.type('half a li');
  await screen.stands('echo> half a li');
  await stop(screen);
  expect(await terminalSettings(screen)).toBe(settings);
  screen.type('fg\r');
  await screen.stands('echo> half a li');
  screen.type('ne\r');
  await screen.until('answered', () => screen.text.endsWith('\nhalf a line\n\necho (half a line)>'));
  screen.type('\x04');
  await screen.shows('Continue with');
});

test('at a plain prompt, also within a message, fg shows the prompt again', async () => {
  const place = fixture.place();
  await place.output(['models']);
  const screen = await openShell(place, { TERM: 'dumb' });
  screen.type('parley repl -m echo\r');
  await screen.stands('echo> ');
  await stop(screen);
  screen.type('fg\r');
  await screen.stands('echo> ');
  screen.type('one\\\r');
  await screen.until('the next row', () => screen.cursorRow === '' && screen.cursor.column === 2);
  await stop(screen);
  screen.type('fg\r');
  await screen.until('the row', () => screen.text.endsWith('-m echo') && screen.cursor.column === 2);
  screen.type('two\r');
  await screen.until('answered', () => screen.text.endsWith('\none\ntwo\n\necho (one)>'));
  screen.type('\x04');
  await screen.shows('Continue with');
});

test('during a reply, fg continues the reply', async () => {
  const screen = await openShell(fixture.place(), talkingTo(server.url));
  screen.type('parley repl -m slow\r');
  await screen.stands('slow> ');
  screen.type('Hello\r');
  const reply = await server.next();
  reply.say('One\n');
  await screen.shows('\nOne');
  await stop(screen);
  reply.say('two.\n');
  reply.end();
  screen.type('fg\r');
  await screen.stands('slow (Slowly)> ');
  expect(screen.text).toContain('\ntwo.\n');
  screen.type('typed');
  await screen.stands('slow (Slowly)> typed');
});

describe('in the list of sessions', () => {
  const titles = ['red apple', 'green apple', 'pear', 'yellow apple'];
  const marked = (screen: TerminalScreen) => screen.rows.filter((row) => row.startsWith('❯'));
  const listed = (screen: TerminalScreen) =>
    screen.rows.filter((row) => /^[❯ ] .* · 0 messages · \w{8}$/.test(row));

  let settings = '';
  async function openList(): Promise<TerminalScreen> {
    const place = fixture.place();
    for (const title of titles) await place.output(['sessions', 'create', '--title', title]);
    const screen = await openShell(place);
    settings = await terminalSettings(screen);
    screen.type('parley repl -m echo\r');
    await screen.stands('echo> ');
    screen.type('/sessions\r');
    await screen.until('the list', () => listed(screen).length === titles.length);
    await screen.stands('? Which session?');
    return screen;
  }

  test('the list disappears, and fg shows it again with its filter and its selection; its keys still work', async () => {
    const screen = await openList();
    screen.type('apple');
    await screen.until('narrowed', () => listed(screen).length === 3);
    screen.type('\x1b[B');
    await screen.until('marked', () => /green apple/.test(marked(screen).join()));
    await screen.stands('? Which session? apple');
    await stop(screen);
    expect(listed(screen)).toEqual([]);
    expect(await terminalSettings(screen)).toBe(settings);
    screen.type('fg\r');
    await screen.until('the list again', () => listed(screen).length === 3);
    await screen.stands('? Which session? apple');
    expect(marked(screen)).toEqual([expect.stringContaining('green apple')]);
    screen.type('\x1b[B');
    await screen.until('marked', () => /red apple/.test(marked(screen).join()));
    screen.type('\r');
    await screen.stands('echo (red apple)> ');
    expect(screen.text).not.toContain('Which session?');
    screen.type('\x04');
    await screen.shows('Continue with');
  });

  test('repeated suspensions work, and then Ctrl-C returns to the prompt without the list', async () => {
    const screen = await openList();
    for (const word of ['e', 'l', 'l']) {
      await stop(screen);
      screen.type('fg\r');
      await screen.until('the list', () => listed(screen).length > 0);
      await screen.until('the question', () => screen.cursorRow.startsWith('? Which session?'));
      screen.type(word);
    }
    await screen.until('narrowed', () => /\? Which session\? ell$/.test(screen.cursorRow));
    await screen.until('one', () => listed(screen).length === 1);
    screen.type('\x03');
    await screen.stands('echo> ');
    expect(listed(screen)).toEqual([]);
    screen.type('typed');
    await screen.stands('echo> typed');
    screen.type('\x15\x04');
    await screen.stands('shell$ ');
  });

  test('without a waiting shell nothing is lost', async () => {
    const place = fixture.place();
    await place.output(['sessions', 'create', '--title', 'pear']);
    const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
    await screen.stands('echo> ');
    screen.type('/sessions\r');
    await screen.until('the list', () => listed(screen).length === 1);
    await screen.stands('? Which session?');
    screen.type('p');
    await screen.until('narrowed', () => screen.cursorRow === '? Which session? p');
    screen.type('\x1a');
    await screen.until('gone', () => listed(screen).length === 0);
    await screen.until('again', () => listed(screen).length === 1);
    await screen.stands('? Which session? p');
    screen.type('ea');
    await screen.until('narrowed', () => screen.cursorRow === '? Which session? pea');
    screen.type('\r');
    await screen.stands('echo (pear)> ');
    await leave(screen);
  });
});

test('in a question, fg asks the question again', async () => {
  const place = fixture.place();
  const ids = await Promise.all(
    ['one', 'two'].map((title) => place.output(['sessions', 'create', '--title', title])),
  );
  const screen = await openShell(place);
  screen.type(`parley sessions delete ${ids.map((id) => id.trim()).join(' ')}\r`);
  await screen.shows('(y/N)');
  await stop(screen);
  screen.type('fg\r');
  await screen.until('asked again', () => screen.cursorRow.endsWith('(y/N)'));
  screen.type('y\r');
  await screen.shows('2 sessions deleted.');
});
