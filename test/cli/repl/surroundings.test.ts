// When the REPL opens and how it adapts: `parley` alone, `chat` without a message, no terminal, NO_COLOR, TERM=dumb.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openPacedServer } from '../../support/paced-server.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { leave, messagesOf, ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
afterEach(() => fixture.close());

describe('a terminal and nothing to send', () => {
  test.each([[[]], [['chat']], [['chat', '-n', '-m', 'eliza']], [['-m', 'eliza']], [['--no-color']]])(
    'parley %j opens the REPL',
    async (words) => {
      const screen = fixture.open(words);
      await screen.stands('eliza> ');
      await leave(screen);
    },
  );

  test('-c continues the last session of this terminal', async () => {
    const shell = fixture.keep(fixture.place().shellScreen({ columns: 120, env: { NO_COLOR: '1' } }));
    await shell.stands('shell$ ');
    shell.type('parley repl -c; echo status $?\r');
    await shell.shows('status 2');
    shell.type('parley chat -m echo "hello there"\r');
    await shell.shows('continue with');
    shell.type('parley -q 2>/dev/null; parley repl -m echo -c\r');
    await shell.stands('echo (hello there)> ');
  });
});

describe('without a terminal', () => {
  test('parley repl is refused with the command to use instead', async () => {
    const place = fixture.place();
    for (const script of ['parley repl < /dev/null', 'echo hi | parley repl', 'parley repl | cat']) {
      const { status, out } = await place.terminal(`set -o pipefail; ${script}`);
      expect({ script, status }).toEqual({ script, status: 2 });
      expect(out).toContain('(USAGE)');
      expect(out).toContain('parley chat');
    }
    const piped = await place.parley(['repl'], { stdin: '/quit\n' });
    expect(piped.status).toBe(2);
    expect(piped.out).toBe('');
  });

  test('piped text is one message, whatever its first character', async () => {
    const place = fixture.place();
    expect(await place.output([], { stdin: '/quit\n', env: { PARLEY_MODE: 'echo' } })).toBe('/quit\n');
  });

  test.each([
    [['repl', '--json'], 2],
    [['repl', '--no-input'], 2],
    [['repl', '-s', 'x', '-c'], 2],
    [['repl', '-s', ''], 2],
  ])('parley %j is refused', async (words, status) => {
    const screen = fixture.open(words);
    expect((await screen.ended).status).toBe(status);
    expect(screen.text).toContain('(USAGE)');
  });
});

test('a terminal gets colour, but not with NO_COLOR', async () => {
  const place = fixture.place();
  await place.output(['models']);
  for (const [env, colours] of [
    [{ NO_COLOR: undefined }, true],
    [{ NO_COLOR: '1' }, false],
  ] as const) {
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    screen.type('hi\r');
    await screen.stands('echo (hi)> ');
    // Only "select graphic rendition" is colour; a sequence that moves the cursor is not.
    expect(/\[[\d;]*m/.test(screen.bytes)).toBe(colours);
    await leave(screen);
  }
});

describe('TERM=dumb', () => {
  const env = { TERM: 'dumb' };
  /** Waits until the line is on the screen, and the cursor in a column of the row below. */
  const isBelow = (line: string, column: number, screen: TerminalScreen) =>
    screen.until(`is below ${line}`, () => {
      const { cursor, cursorRow, text } = screen;
      return text.endsWith(line) && cursorRow === '' && cursor.column === column;
    });

  test('has plain lines, also messages of several lines, and no control sequences', async () => {
    const place = fixture.place();
    await place.output(['models']);
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    screen.type('hello\r');
    await screen.stands('echo (hello)> ');
    screen.type('one\\\r');
    await isBelow('one\\', 2, screen);
    screen.type('two\r');
    await screen.until('answered', () => /\n {2}two\none\ntwo\n\necho \(hello\)>$/.test(screen.text));
    screen.type('"""\r');
    await isBelow('"""', 2, screen);
    screen.type('/three\r');
    await isBelow('/three', 2, screen);
    screen.type('"""\r');
    await screen.until('answered', () => /\n\/three\n\necho \(hello\)>$/.test(screen.text));
    screen.type('/title Plain\r');
    await screen.stands('echo (Plain)> ');
    screen.type('/sessions\r');
    await screen.shows('To continue one: /resume with its id');
    expect(screen.text).toMatch(/^ses_\w{26} {2}Plain$/m);
    await screen.stands('echo (Plain)> ');
    expect(screen.bytes).not.toContain('\x1b');
    const id = await leave(screen);
    expect((await messagesOf(place, id)).map(({ content }) => content)).toEqual([
      'hello',
      'hello',
      'one\ntwo',
      'one\ntwo',
      '/three',
      '/three',
    ]);
  });

  test('shows one prompt at the start, with the default mode', async () => {
    const place = fixture.place();
    await place.output(['models']);
    const screen = fixture.open(['repl'], { env }, place);
    await screen.stands('eliza> ');
    expect(screen.text).toBe('/help lists the commands and keys.\neliza>');
    screen.type('\x04');
    await screen.ended;
  });

  test('lines that arrive together are one message, and no command', async () => {
    const place = fixture.place();
    await place.output(['models']);
    const screen = fixture.open(['repl', '-m', 'echo'], { env }, place);
    await screen.stands('echo> ');
    screen.type('/title pasted\r\r/quit\r');
    await screen.stands('echo (/title pasted)> ');
    screen.type('"""\r');
    await isBelow('"""', 2, screen);
    screen.type('  one\r"""\r/quit\r');
    await isBelow('/quit', 2, screen);
    screen.type('"""\r');
    await screen.until('answered', () => /\n\/quit\n\necho \(.*\)>$/.test(screen.text));
    const id = await leave(screen);
    const contents = (await messagesOf(place, id)).map(({ content }) => content);
    expect(contents.filter((_, index) => index % 2 === 0)).toEqual([
      '/title pasted\n\n/quit',
      '  one\n"""\n/quit',
    ]);
  });

  test('a line that the terminal has cut is sent only after a confirmation', async () => {
    const place = fixture.place();
    await place.output(['models']);
    const screen = fixture.open(['repl', '-m', 'echo'], { env, rows: 200 }, place);
    await screen.stands('echo> ');
    screen.type(`${'x'.repeat(5000)}\r`);
    await screen.shows('The terminal cuts lines at 4,095 bytes');
    await screen.stands('echo> ');
    screen.type('\x03');
    await screen.shows('Press Ctrl-D to leave.');
    expect(await leave(screen)).toBe('');
  });

  test('input during a reply waits for Enter, is no command, and can be dropped', async () => {
    const server = await openPacedServer();
    try {
      const screen = fixture.open(['repl', '-m', 'slow'], { env: { ...env, ...talkingTo(server.url) } });
      await screen.stands('slow> ');
      screen.type('Hello\r');
      const first = await server.next();
      first.say('One.');
      await screen.shows('One.');
      screen.type('/title mine\r/quit\r');
      await screen.shows('/quit');
      first.end();
      await screen.shows('(Typed ahead. Enter alone sends it, Ctrl-C discards it.)');
      await screen.stands('slow (Slowly)> ');
      screen.type('\r');
      const second = await server.next();
      expect(second.body.message).toBe('/title mine\n/quit');
      second.say('Two.');
      await screen.shows('Two.');
      screen.type('/quit\r');
      await isBelow('/quit', 0, screen);
      second.end();
      await screen.until('told', () => screen.text.split('Typed ahead').length === 3);
      await screen.stands('slow (Slowly)> ');
      screen.type('more\r');
      const third = await server.next();
      expect(third.body.message).toBe('/quit\nmore');
      third.say('Three.');
      await screen.shows('Three.');
      screen.type('/title x\r');
      await isBelow('/title x', 0, screen);
      third.end();
      await screen.until('told', () => screen.text.split('Typed ahead').length === 4);
      await screen.stands('slow (Slowly)> ');
      screen.type('\x03');
      await screen.shows('Press Ctrl-D to leave.');
      screen.type('/quit\r');
      await screen.shows('Continue with: parley repl');
    } finally {
      await server.close();
    }
  });

  test('Ctrl-C stops a reply, and says at the prompt how to leave; Enter sends a failed message again', async () => {
    const server = await openPacedServer();
    try {
      const screen = fixture.open(['repl', '-m', 'slow'], { env: { ...env, ...talkingTo(server.url) } });
      await screen.stands('slow> ');
      screen.type('Hello\r');
      const reply = await server.next();
      reply.say('One ');
      await screen.shows('One');
      screen.type('\x03');
      await reply.closed;
      await screen.shows('[stopped; the partial reply is kept]');
      await screen.until('the prompt', () => screen.cursorRow.startsWith('slow'));
      // Two presses that arrive together count as one.
      await delay(200);
      screen.type('\x03');
      await screen.shows('Press Ctrl-D to leave.');
      screen.type('Again\r');
      (await server.next()).refuse(502, 'ENGINE_FAILED', 'No model.');
      await screen.shows('No model.');
      await screen.shows('Enter alone');
      screen.type('\r');
      const second = await server.next();
      expect(second.body.message).toBe('Again');
      second.say('Two.');
      second.end();
      await screen.shows('Two.');
      await leave(screen);
    } finally {
      await server.close();
    }
  });
});
