// Stopping and leaving: Ctrl-C at each moment, Ctrl-D, and signals; and that the terminal is as before afterwards.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPacedServer, type PacedServer } from '../../support/paced-server.ts';
import type { TerminalScreen } from '../../support/terminal-screen.ts';
import { childOf } from './person.ts';
import { greeting, leave, messagesOf, ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: PacedServer;
beforeAll(async () => {
  server = await openPacedServer();
});
afterEach(() => fixture.close());
afterAll(() => server.close());

async function openSlow(...flags: readonly string[]): Promise<TerminalScreen> {
  const screen = fixture.open(['repl', '-m', 'slow', ...flags], { env: talkingTo(server.url) });
  await screen.stands('slow> ');
  return screen;
}

describe('Ctrl-C', () => {
  test('at an empty prompt says how to leave; in a typed line, clears the line', async () => {
    const screen = await openSlow();
    screen.type('\x03');
    await screen.shows('Press Ctrl-D to leave.');
    await screen.stands('slow> ');
    screen.type('never sent');
    await screen.stands('slow> never sent');
    screen.type('\x03');
    await screen.stands('slow> ');
    expect(screen.text).toBe(`${greeting}slow>\nPress Ctrl-D to leave.\nslow> never sent\nslow>`);
    expect(await leave(screen)).toBe('');
    expect(server.requests.filter(({ path }) => path === '/v1/chat')).toEqual([]);
  });

  test('before the first word stops the wait, and erases its text', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    await screen.shows('Waiting for the reply');
    screen.type('\x03');
    await reply.closed;
    await screen.stands('slow> ');
    expect(screen.text).toBe(`${greeting}slow> Hello\n[stopped; Up brings the message back]\nslow>`);
    expect(screen.bytes.lastIndexOf('\x1b[?25h')).toBeGreaterThan(screen.bytes.lastIndexOf('\x1b[?25l'));
    screen.type('\x1b[A');
    await screen.stands('slow> Hello');
  });

  test('before the first word of a stored message says that it is stored, whatever was replied before', async () => {
    const screen = await openSlow();
    screen.type('Hi\r');
    const before = await server.next();
    before.say('One.');
    before.end();
    await screen.stands('slow (Slowly)> ');
    screen.type('Hello\r');
    const reply = await server.next();
    reply.begin();
    await screen.shows('Waiting for the reply');
    // The response of the service has been read by then.
    await delay(300);
    screen.type('\x03');
    await reply.closed;
    await screen.shows('[stopped; your message is kept]');
  });

  test('in the middle of a reply stops it at once, and stores and marks the received part', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    reply.say('One two ');
    await screen.shows('One two');
    screen.type('\x03');
    await reply.closed;
    await screen.until('the prompt', () => /^slow( \(Slowly\))?>$/.test(screen.cursorRow));
    expect(screen.text).toMatch(
      /\nslow> Hello\nOne two\n\n\[stopped; the partial reply is kept\]\nslow( .*)?>$/,
    );
    screen.type('Again\r');
    const next = await server.next();
    expect(next.body).toEqual({
      mode: 'slow',
      message: 'Again',
      session_id: expect.stringMatching(/^session-/),
    });
    next.say('Three.');
    next.end();
    await screen.shows('Three.');
  });

  test('soon after Escape has the same effect', async () => {
    const screen = await openSlow();
    screen.type('never sent');
    await screen.stands('slow> never sent');
    screen.type('\x1b');
    await delay(100);
    screen.type('\x03');
    await screen.stands('slow> ');
    screen.type('Hello\r');
    const reply = await server.next();
    reply.say('One two ');
    await screen.shows('One two');
    screen.type('\x1b');
    await delay(100);
    screen.type('\x03');
    await reply.closed;
    await screen.shows('[stopped; the partial reply is kept]');
  });

  test('stops a reply within 100 ms', async () => {
    const screen = await openSlow();
    const took: number[] = [];
    for (let press = 1; press <= 7; press++) {
      screen.type(`Hello ${press}\r`);
      const reply = await server.next();
      reply.say(`One ${press} `);
      await screen.until('the reply', () => screen.cursorRow === `One ${press}`);
      const pressed = performance.now();
      screen.type('\x03');
      await reply.closed;
      took.push(performance.now() - pressed);
      await screen.until('the prompt', () => /^slow( \(Slowly\))?>$/.test(screen.cursorRow));
    }
    // A busy machine may delay some of them, but not all.
    took.sort((one, other) => one - other);
    expect(took[0]).toBeLessThanOrEqual(100);
    expect(took[3]).toBeLessThan(1000);
  });

  test('stops a reply without pauses, and stores the received part', async () => {
    const place = fixture.place();
    const file = 'long.txt';
    await place.shell(`yes 'a line of a reply that is long' | head -c 1000000 > ${file}`);
    const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
    await screen.stands('echo> ');
    screen.type(`/file ${file}\r`);
    await screen.shows('to the next message');
    screen.type('Read this\r');
    await screen.until('the reply begins', () => screen.text.includes('a line of a reply'));
    screen.type('\x03');
    await screen.shows('[stopped; the partial reply is kept]');
    await screen.until('the prompt', () => screen.cursorRow.startsWith('echo ('));
    const [, reply] = await messagesOf(place, await leave(screen));
    expect(reply).toMatchObject({ role: 'assistant', finish_reason: 'interrupted' });
    expect(reply?.content.length).toBeGreaterThan(0);
    expect(reply?.content.length).toBeLessThan(1_000_000);
  });

  test('in a search, and in the list of sessions, returns to the prompt', async () => {
    const place = fixture.place();
    await place.output(['chat', '-m', 'echo', 'An old one']);
    const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
    await screen.stands('echo> ');
    screen.type('draft\x12');
    await screen.until('the search', () => screen.cursorRow.startsWith('(search'));
    screen.type('\x03');
    await screen.stands('echo> draft');
    screen.type('\x15/sessions\r');
    await screen.shows('Which session?');
    await screen.shows('An old one');
    screen.type('\x03');
    await screen.stands('echo> ');
    expect(screen.text).toMatch(/> \/sessions\necho>$/);
    screen.type('still here\r');
    await screen.until('answered', () => screen.text.endsWith('\n\necho (still here)>'));
  });

  test('as a signal from another process does the same', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    reply.say('One ');
    await screen.shows('One');
    screen.signal('SIGINT');
    await reply.closed;
    await screen.until('the prompt', () => /^slow( \(Slowly\))?>$/.test(screen.cursorRow));
    // Two signals that arrive together count as one.
    await delay(200);
    screen.signal('SIGINT');
    await screen.shows('Press Ctrl-D to leave.');
    await leave(screen);
  });
});

describe('input during a reply', () => {
  test('is at the next prompt, and is not sent', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    reply.say('One ');
    await screen.shows('One');
    screen.type('my next\r');
    reply.say('two.\n\n');
    await screen.shows('two.');
    screen.type('question\x7f\x7f');
    // The input is read during the reply.
    await delay(100);
    reply.end();
    await screen.until('the prompt', () => screen.cursorRow === '  questi');
    expect(screen.text).toBe(`${greeting}slow> Hello\nOne two.\n\nslow (Slowly)> my next\n  questi`);
    screen.type('on?\r');
    expect((await server.next()).body.message).toBe('my next\nquestion?');
  });

  test('is complete after an unfinished Ctrl-X', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    screen.type('\x18xmy next\x18\x05 question');
    await delay(100);
    reply.say('One.');
    reply.end();
    await screen.stands('slow (Slowly)> my next question');
  });

  test('is placed after a failed message that returned to the prompt', async () => {
    const screen = await openSlow();
    screen.type('Hello\r');
    const reply = await server.next();
    screen.type('and more');
    await delay(100);
    reply.refuse(502, 'ENGINE_FAILED', 'The model failed.');
    await screen.stands('  and more');
    expect(screen.text).toContain('The model failed. (ENGINE_FAILED)');
    expect(screen.rows).toContain('slow> Hello');
  });
});

test('a terminal that is resized during a reply shows all of it, in order', async () => {
  const screen = await openSlow('--raw');
  screen.type('Hello\r');
  const reply = await server.next();
  const lines = Array.from({ length: 30 }, (_, index) => `This is line ${index}`);
  for (const [index, line] of lines.entries()) {
    reply.say(`${line}\n`);
    if (index % 10 !== 5) continue;
    await screen.shows(line);
    screen.resize(index === 5 ? 30 : 100, index === 5 ? 10 : 20);
  }
  reply.end();
  await screen.stands('slow (Slowly)> ');
  expect(screen.text).toBe(greeting + ['slow> Hello', ...lines, '', 'slow (Slowly)>'].join('\n'));
});

describe('a signal', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s stores the received part of the reply, restores the terminal and ends with %i',
    async (name, status) => {
      const screen = await openSlow();
      screen.type('Hello\r');
      const reply = await server.next();
      reply.say('One ');
      await screen.shows('One');
      screen.signal(name);
      await reply.closed;
      expect(await screen.ended).toEqual({ status, signal: 0 });
      expect(screen.bytes.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(
        screen.bytes.lastIndexOf('\x1b[?2004h'),
      );
      expect(screen.text).toBe(`${greeting}slow> Hello\nOne`);
    },
  );

  test('SIGTERM ends the REPL at a prompt, too', async () => {
    const screen = await openSlow();
    screen.type('half a li');
    await screen.stands('slow> half a li');
    screen.signal('SIGTERM');
    expect(await screen.ended).toEqual({ status: 143, signal: 0 });
    expect(screen.bytes.endsWith('\x1b[?2004l\x1b[?25h')).toBe(true);
  });
});

describe('in a shell', () => {
  const stty = (screen: TerminalScreen) =>
    [...screen.text.matchAll(/speed [\s\S]*?(?=\nshell\$)/g)].map(([all]) => all);

  async function openShell(): Promise<TerminalScreen> {
    const screen = fixture.keep(
      fixture.place().shellScreen({ columns: 120, rows: 50, env: { NO_COLOR: '1' } }),
    );
    await screen.stands('shell$ ');
    screen.type('stty -a\r');
    await screen.until('stty', () => stty(screen).length === 1 && screen.cursorRow === 'shell$');
    return screen;
  }

  test.each([
    ['Ctrl-D', (screen: TerminalScreen) => screen.type('\x04')],
    ['/quit', (screen: TerminalScreen) => screen.type('/quit\r')],
  ])('after %s the terminal is as before', async (_name, end) => {
    const screen = await openShell();
    screen.type('parley repl -m echo\r');
    await screen.stands('echo> ');
    end(screen);
    await screen.until('the shell', () => screen.cursorRow === 'shell$');
    screen.type('stty -a\r');
    await screen.until('stty', () => stty(screen).length === 2);
    expect(stty(screen)[1]).toBe(stty(screen)[0]);
  });

  test.each(['TERM', 'HUP', 'INT TERM'])('and after kill -%s', async (names) => {
    const screen = await openShell();
    screen.type('parley repl -m echo\r');
    await screen.stands('echo> ');
    const child = childOf(screen.pid);
    for (const name of names.split(' ')) process.kill(child, `SIG${name}` as NodeJS.Signals);
    await screen.until('the shell', () => screen.cursorRow === 'shell$');
    screen.type('stty -a\r');
    await screen.until('stty', () => stty(screen).length === 2);
    expect(stty(screen)[1]).toBe(stty(screen)[0]);
  });
});
