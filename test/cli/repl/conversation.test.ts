// A conversation in a real terminal, on the embedded service: typing, pasting, replies, and the screen.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Place } from '../../support/parley.ts';
import type { ScreenOptions } from '../../support/terminal-screen.ts';
import { leave, messagesOf, paste, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

function open(args: readonly string[] = [], options: Partial<ScreenOptions> = {}, place = fixture.place()) {
  return { place, screen: fixture.open(args, options, place) };
}

async function contentsOf(place: Place, id: string): Promise<readonly string[]> {
  return (await messagesOf(place, id)).map(({ content }) => content);
}

test('a conversation shows its messages and replies, has its title at the prompt, and can be continued', async () => {
  const { place, screen } = open();
  await screen.stands('eliza> ');
  screen.type('My name is Ada.\r');
  await screen.stands('eliza (My name is Ada.)> ');
  screen.type('What is my name?\r');
  await screen.shows('Your name is Ada.');
  await screen.stands('eliza (My name is Ada.)> ');
  const id = await leave(screen);
  const rows = screen.text.split('\n');
  // The notice of the new store is above the conversation.
  expect(rows.slice(rows.indexOf('eliza> My name is Ada.'))).toEqual([
    'eliza> My name is Ada.',
    'Pleased to meet you, Ada. What brings you here?',
    'eliza is not a language model. To set one up: parley setup',
    '',
    'eliza (My name is Ada.)> What is my name?',
    'Your name is Ada.',
    '',
    'eliza (My name is Ada.)>',
    `Continue with: parley repl -s ${id}`,
  ]);

  const again = open(['repl', '-s', id], {}, place).screen;
  await again.stands('eliza (My name is Ada.)> ');
  expect(again.rows.slice(0, 6)).toEqual([
    '> My name is Ada.',
    'Pleased to meet you, Ada. What brings you here?',
    '',
    '> What is my name?',
    'Your name is Ada.',
    '',
  ]);
  again.type('My name is Bob.\r');
  await again.shows('Bob.');
  await again.stands('eliza (My name is Ada.)> ');
  expect(await leave(again)).toBe(id);
  expect(await contentsOf(place, id)).toHaveLength(6);
});

test('the last messages of a continued session are dimmed, cut to the screen, and cannot control the terminal', async () => {
  const place = fixture.place();
  const attack = `\x1b[2J\u202e${'a line\n'.repeat(40)}the end`;
  const stdin = attack;
  const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo'], { stdin })).session_id;
  const { screen } = open(['repl', '-s', id], { env: { NO_COLOR: undefined }, rows: 20 }, place);
  await screen.until('the prompt', () => screen.cursorRow.startsWith('echo ('));
  expect(screen.bytes).toContain('\x1b[2mthe end\x1b[22m');
  expect(screen.bytes).not.toContain('\x1b[2J');
  expect(screen.bytes).not.toContain('\u202e');
  expect(screen.rows[0]).toBe('…');
  expect(screen.rows.filter((row) => row !== '').length).toBeLessThanOrEqual(18);
});

test('no row of the last messages starts with the blank at which it was broken', async () => {
  const place = fixture.place();
  const row = 'thirty letters make up the row';
  const words = `${row} dddd`;
  const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', words])).session_id;
  const { screen } = open(['repl', '-s', id], { columns: 30 }, place);
  await screen.until('the prompt', () => screen.cursorRow.startsWith('echo'));
  const at = screen.rows.indexOf(row);
  expect(screen.rows.slice(at, at + 2)).toEqual([row, 'dddd']);
});

describe('several lines', () => {
  test.each([
    ['Alt-Enter', 'one\x1b\rtwo\r', 'one\ntwo'],
    ['a trailing backslash', 'one\\\rtwo\r', 'one\ntwo'],
    ['"""', '"""one\rtwo\r"""\r', 'one\ntwo'],
    ['""" on lines of their own', '"""\r/one\r\r two\r"""\r', '/one\n\n two'],
  ])('by %s are one message', async (_name, keys, message) => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    // The message moves the prompt down, and keys are not read while the store is created.
    await screen.shows('Created a store in');
    await screen.stands('echo> ');
    await screen.typeLines(keys);
    await screen.until('answered', () => /\n\necho \(.*\)>$/.test(screen.text));
    expect(await contentsOf(place, await leave(screen))).toEqual([message, message]);
  });

  test('of a short paste are one message', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type(`${paste('one\ntwo\n')}three\r`);
    await screen.until('answered', () => /\n\necho \(.*\)>$/.test(screen.text));
    const message = 'one\ntwo\nthree';
    expect(await contentsOf(place, await leave(screen))).toEqual([message, message]);
  });

  test('can be moved through and changed', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type('one\x1b\rtwo\x1b\rthree');
    await screen.stands('  three');
    expect(screen.text).toContain('echo> one\n  two\n  three');
    screen.type('\x1b[A\x1b[A\x05!\x1b[B\x01>');
    await screen.until('changed', () => screen.rows.includes('  >two'));
    screen.type('\r');
    await screen.until('answered', () => /\n\necho \(one!\)>$/.test(screen.text));
    expect(await contentsOf(place, await leave(screen))).toEqual(['one!\n>two\nthree', 'one!\n>two\nthree']);
  });
});

describe('a paste', () => {
  test('that ends with half an escape sequence does not change the next keys', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type(paste('abc \x1b['));
    await screen.stands('echo> abc \\x1b[');
    screen.type('!\r');
    await screen.until('answered', () => /\n\necho \(.*\)>$/.test(screen.text));
    expect(await contentsOf(place, await leave(screen))).toEqual(['abc \x1b[!', 'abc \x1b[!']);
  });

  test('of a terminal without bracketed paste is one message, and no command', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type('/quit\rsecond line\r');
    await screen.until('the lines', () => screen.text.endsWith('echo> /quit\n  second line'));
    // No user presses Enter sooner.
    await delay(200);
    screen.type('\r');
    await screen.until('answered', () => /\n\necho \(.*\)>$/.test(screen.text));
    const message = '/quit\nsecond line\n';
    expect(await contentsOf(place, await leave(screen))).toEqual([message, message]);
  });

  const lines = Array.from(
    { length: 500 },
    (_, index) => `line ${index}\twith "quotes" and /slashes and 你好`,
  );

  test('of 500 lines is shown folded, sent completely as one message, and recalled from the history', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type(`See: ${paste(`${lines.join('\n')}\n`)}`);
    await screen.stands('echo> See: [pasted 500 lines]');
    screen.type(' What of it?\r');
    await screen.until('answered', () => /\n\necho \(See.*\)>$/.test(screen.text));
    const message = `See: ${lines.join('\n')}\n What of it?`;
    screen.type('\x1b[A');
    await screen.until('recalled', () => screen.cursorRow.endsWith('> [pasted 501 lines]'));
    screen.type('\r');
    await screen.until('answered', () => screen.text.split('\n\necho (See').length === 3);
    expect(await contentsOf(place, await leave(screen))).toEqual([message, message, message, message]);
  });

  test('is erased like one character, and is never a command', async () => {
    const { place, screen } = open(['repl', '-m', 'echo']);
    await screen.stands('echo> ');
    screen.type(`a${paste(lines.join('\n'))}`);
    await screen.stands('echo> a[pasted 500 lines]');
    screen.type('\x7f');
    await screen.stands('echo> a');
    screen.type(`\x7f${paste('/quit')}\r`);
    await screen.until('answered', () => /\n\necho \(\/quit\)>$/.test(screen.text));
    expect(await contentsOf(place, await leave(screen))).toEqual(['/quit', '/quit']);
  });
});

test('a line that begins with // sends a slash; a typo sends nothing', async () => {
  const { place, screen } = open(['repl', '-m', 'echo']);
  await screen.stands('echo> ');
  screen.type('/hepl\r');
  await screen.shows('Did you mean /help?');
  screen.type('//etc/hosts\r');
  await screen.until('answered', () => /\n\necho \(\/etc\/hosts\)>$/.test(screen.text));
  expect(await contentsOf(place, await leave(screen))).toEqual(['/etc/hosts', '/etc/hosts']);
});

test('wide characters and emoji are edited as single characters', async () => {
  const { place, screen } = open(['repl', '-m', 'echo'], { columns: 20 });
  await screen.stands('echo> ');
  const text = '你好世界 👩‍👩‍👧 é 👍🏽 日本語テキスト';
  screen.type(`${text}x`);
  await screen.until('typed', () => screen.text.replaceAll('\n', '').endsWith('テキストx'));
  screen.type('\x7f\x01\x1b[C\x1b[C\x7f\x05');
  await screen.until('changed', () => screen.text.includes('echo> 你世界'));
  screen.type('\r');
  await screen.until('answered', () => screen.text.endsWith('\n\necho>'));
  expect(await contentsOf(place, await leave(screen))).toEqual([
    text.replace('好', ''),
    text.replace('好', ''),
  ]);
});

describe('a narrow and a wide terminal', () => {
  test.each([20, 200])(
    'of %i columns shows a typed line over many rows, and can be resized',
    async (columns) => {
      // The emulator leaves the row with the cursor as it is.
      const { place, screen } = open(['repl', '-m', 'echo'], { columns, env: { TERM_PROGRAM: 'vscode' } });
      await screen.stands('echo> ');
      const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
      screen.type(words);
      const shown = () => screen.text.replaceAll('\n', '');
      await screen.until('typed', () => shown().endsWith('word59'));
      const { length } = screen.bytes;
      screen.resize(60, 24);
      await screen.until(
        'redrawn',
        () => screen.bytes.length > length && screen.rows.join('').trimEnd().endsWith(words.slice(-40)),
      );
      screen.type('\x01First \x05.');
      await screen.until('changed', () => screen.text.replaceAll('\n', '').endsWith(`> First ${words}.`));
      expect(screen.text.match(/First/g)).toHaveLength(1);
      screen.type('\r');
      await screen.until('answered', () => screen.text.includes('\n\necho (First'));
      expect(await contentsOf(place, await leave(screen))).toEqual([`First ${words}.`, `First ${words}.`]);
    },
  );
});
