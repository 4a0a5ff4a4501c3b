// The list of /sessions: filtered by typing, one session per row, whatever its title.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Place } from '../../support/parley.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { entered, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

async function open(place: Place, columns: number): Promise<TerminalScreen> {
  const screen = fixture.open(['repl', '-m', 'echo'], { columns, rows: 40 }, place);
  await screen.stands('echo> ');
  return screen;
}

test('/sessions offers a list that is filtered by typing, and returns the keyboard', async () => {
  const place = fixture.place();
  for (const title of ['Alpha', 'Beta', 'Gamma']) await place.output(['chat', '-m', 'echo', title]);
  const screen = await open(place, 100);
  screen.type('/sessions\r');
  await screen.shows('Which session?');
  await screen.shows('Alpha');
  screen.type('bet');
  await screen.until('narrowed', () => !screen.rows.some((row) => row.includes('Gamma  ')));
  await screen.until('Beta is left', () => screen.rows.some((row) => row.includes('Beta  ')));
  screen.type('\r');
  await screen.stands('echo (Beta)> ');
  expect(screen.text).toContain('\n> Beta\nBeta\n');
  expect(await entered(screen, 'and on')).toBe('and on');
  expect(await entered(screen, '/sessions zzz')).toBe('No title contains "zzz".');
});

/** A REPL that shows the list with one session. */
async function openedList() {
  const place = fixture.place();
  await place.output(['chat', '-m', 'echo', 'An old one']);
  const screen = await open(place, 100);
  screen.type('/sessions\r');
  await screen.shows('Which session?');
  await screen.shows('An old one');
  return screen;
}

test('Escape closes the list, and the next input is a message', async () => {
  const screen = await openedList();
  screen.type('\x1b');
  await screen.until('left', () => screen.text.endsWith('> /sessions\necho>'));
  expect(await entered(screen, 'still here')).toBe('still here');
});

test.each([100, 0])('Ctrl-C closes the list, also %i ms after Escape', async (ms) => {
  const screen = await openedList();
  if (ms > 0) {
    screen.type('\x1b');
    await delay(ms);
    screen.type('\x03');
  } else screen.type('\x1b\x03');
  await screen.until('left', () => screen.cursorRow === 'echo>');
  expect(await entered(screen, 'still here')).toBe('still here');
});

test('/sessions shows a session on one row on a terminal of any width', async () => {
  const place = fixture.place();
  await place.output(['sessions', 'create', '--title', 'A title of some thirty letters']);
  const screen = await open(place, 24);
  screen.type('/sessions\r');
  await screen.until('the list', () => screen.rows.includes('❯ A title of some thi…'));
  screen.type('\r');
  await screen.until('picked', () => screen.text.endsWith('> /sessions\necho>'));
});

test('/sessions shows titles of wide characters on one row each, and redraws them', async () => {
  const place = fixture.place();
  for (const title of ['漢字'.repeat(40), '👩🏽‍🚀 rocket '.repeat(12), 'plain'])
    await place.output(['sessions', 'create', '--title', title]);
  const screen = await open(place, 80);
  screen.type('/sessions\r');
  await screen.until('the list', () => screen.rows.some((row) => row.startsWith('❯ plain')));
  screen.type('\x1b[B\x1b[B');
  await screen.until('the last', () => screen.rows.some((row) => row.startsWith('❯ 漢字')));
  const from = screen.rows.indexOf('echo> /sessions');
  expect(screen.rows.slice(from, from + 6)).toEqual([
    'echo> /sessions',
    '? Which session?',
    expect.stringMatching(/^ {2}plain +now · 0 messages · \w{8}$/),
    expect.stringMatching(/^ {2}👩🏽‍🚀 rocket .*… {2}now · 0 messages · \w{8}$/u),
    expect.stringMatching(/^❯ 漢字.*… {2}now · 0 messages · \w{8}$/),
    '',
  ]);
  screen.type('\x03');
  await screen.stands('echo> ');
});
