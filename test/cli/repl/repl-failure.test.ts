// A failure in the REPL: one line, the message back at the prompt, and /retry.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPacedServer, type PacedServer } from '../../support/paced-server.ts';
import { sendJson, serve } from '../../support/scripted-server.ts';
import { type ServedPlace, servePlace } from '../../support/served-place.ts';
import { greeting, leave, messagesOf, paste, ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: PacedServer;
beforeAll(async () => {
  server = await openPacedServer();
});
afterEach(() => fixture.close());
afterAll(() => server.close());

test('a server that is down is reported in one line, and the message returns to the prompt completely', async () => {
  const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo('http://127.0.0.1:9'), columns: 200 });
  await screen.stands('slow> ');
  screen.type('one\x1b\rtwo\r');
  await screen.shows('(NETWORK)');
  await screen.stands('  two');
  const lines = screen.text.slice(greeting.length).split('\n');
  expect(lines).toHaveLength(5);
  expect(lines[2]).toMatch(/\(NETWORK\).+$/);
  expect(lines.slice(3)).toEqual(['slow> one', '  two']);
});

test('a failed request for the default mode is reported above the prompt, and repeated', async () => {
  const screen = fixture.open(['repl'], { env: talkingTo('http://127.0.0.1:9'), columns: 200 });
  await screen.shows('(NETWORK)');
  await screen.until('the prompt', () => screen.text.endsWith('\n>'));
});

test('Ctrl-C ends the wait of Tab for a silent server', async () => {
  const silent = await serve(() => {});
  try {
    const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(silent.url) });
    await screen.stands('slow> ');
    screen.type('/mode o\tther');
    await screen.until('asked', () => silent.requests.length > 0);
    screen.type('\x03');
    await screen.until('a prompt of its own', () => screen.text.endsWith('\nslow>'));
    screen.type('/mode o\tther');
    // Without Ctrl-C the keys of the meantime appear after a while, too.
    await screen.stands('slow> /mode other');
    screen.type('\x15');
    await leave(screen);
  } finally {
    await silent.close();
  }
});

describe('a server of the basic API', () => {
  test('without a default mode is reported with the command that chooses one', async () => {
    const screen = fixture.open(['repl'], { env: talkingTo(server.url), columns: 200 });
    await screen.shows('(USAGE) Choose one with /mode: slow, other.');
  });

  test('that cannot restore a session gets a deletion only after a confirmation', async () => {
    const basic = await serve(({ method, path }, response) =>
      sendJson(response, {
        success: true,
        data:
          method === 'POST' || /^.v1.sessions./.test(path)
            ? { session_id: 'one', title: 'One', created_at: '2026-01-01T00:00:00.000Z', message_count: 0 }
            : [{ name: 'slow' }],
      }),
    );
    try {
      const screen = fixture.open(['repl'], { env: talkingTo(basic.url), columns: 200 });
      await screen.stands('slow> ');
      screen.type('/new One\r');
      await screen.stands('slow (One)> ');
      const deletions = () => basic.requests.filter(({ method }) => method === 'DELETE').length;
      screen.type('/delete\r');
      await screen.shows('This server may not be able to restore sessions. Delete "One" permanently?');
      screen.type('\r');
      await screen.shows('Nothing was deleted.');
      await screen.stands('slow (One)> ');
      expect(deletions()).toBe(0);
      screen.type('/delete\r');
      await screen.until('asked again', () => (screen.text.match(/permanently\?/g) ?? []).length === 2);
      screen.type('y\r');
      await screen.shows('deleted one');
      await screen.stands('slow> ');
      expect(deletions()).toBe(1);
      expect(screen.text).not.toContain('/restore');
      await leave(screen);
    } finally {
      await basic.close();
    }
  });
});

describe('a stream that breaks off', () => {
  test('is reported, the received part stays, and the message is at the prompt; Enter sends it with its key', async () => {
    const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(server.url), columns: 200 });
    await screen.stands('slow> ');
    screen.type('Hello\r');
    const first = await server.next();
    first.say('Half of ');
    await screen.shows('Half of');
    first.cut();
    await screen.shows('(INCOMPLETE_REPLY)');
    await screen.until('the prompt', () => /^slow.*> Hello$/.test(screen.cursorRow));
    screen.type('\r');
    await screen.shows('this may repeat the turn.');
    const second = await server.next();
    // This server ignores idempotency keys, so a repeated message goes into the session of the first attempt.
    expect(second.body).toMatchObject({ message: 'Hello', session_id: expect.stringMatching(/^session-/) });
    second.say('All of it.');
    second.end();
    await screen.shows('All of it.');
    await leave(screen);
  });

  test('is repeated by /retry, also after another input', async () => {
    const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(server.url), columns: 200 });
    await screen.stands('slow> ');
    screen.type('Hello\r');
    (await server.next()).refuse(502, 'ENGINE_FAILED', 'No model.');
    await screen.shows('No model. (ENGINE_FAILED) Enter sends it again.');
    await screen.until('the prompt', () => /^slow.*> Hello$/.test(screen.cursorRow));
    screen.type('\x15/retry\r');
    const again = await server.next();
    expect(again.body).toEqual({ mode: 'slow', message: 'Hello' });
    again.say('Now.');
    again.end();
    await screen.shows('Now.');
  });
});

test.each([
  ['"""fail doc"""'],
  ['"""Module."""\nimport x\n'],
  ['fail back\\'],
  ['/title fail'],
  [`"""${'a line\n'.repeat(60)}"""\n`],
])('a paste that failed is the same message when Enter sends it again: %j', async (text) => {
  const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(server.url), columns: 200 });
  await screen.stands('slow> ');
  screen.type(paste(text));
  screen.type('\r');
  const first = await server.next();
  expect(first.body.message).toBe(text);
  first.refuse(502, 'ENGINE_FAILED', 'No model.');
  await screen.until('the prompt', () => /Enter sends it again\.\n[\s\S]*\S/.test(screen.text));
  screen.type('\r');
  const second = await server.next();
  expect(second.body.message).toBe(text);
  expect(second.key).toBe(first.key);
  second.say('Now.');
  second.end();
  await screen.shows('Now.');
});

test('a failed message is sent again with its files; Enter reads them again, and /retry does not', async () => {
  const place = fixture.place();
  const file = join(place.path, 'a.md');
  writeFileSync(file, 'one\n');
  const screen = fixture.open(
    ['repl', '-m', 'slow'],
    { env: talkingTo(server.url), columns: 200, rows: 60 },
    place,
  );
  await screen.stands('slow> ');
  const block = (text: string) => `see @a.md @b.md\n\n\`\`\`a.md\n${text}\n\`\`\``;
  const failed = async () => {
    const turn = await server.next();
    turn.refuse(502, 'ENGINE_FAILED', 'No model.');
    await screen.stands('slow> see @a.md @b.md');
    return { key: turn.key, message: turn.body.message };
  };
  screen.type(`see @a.md ${paste('@b.md')}\r`);
  const first = await failed();
  expect(first.message).toBe(block('one'));
  screen.type('\r');
  expect(await failed()).toEqual(first);
  writeFileSync(file, 'two\n');
  screen.type('\x15/retry\r');
  const repeated = await server.next();
  expect([repeated.key, repeated.body.message]).toEqual([first.key, first.message]);
  repeated.refuse(502, 'ENGINE_FAILED', 'No model.');
  await screen.stands('slow> ');
  screen.type('see @a.md @b.md\r');
  const changed = await failed();
  expect(changed.message).toBe(block('two'));
  expect(changed.key).not.toBe(first.key);
});

describe('the error after a failure', () => {
  test('can be followed: the line is cleared if the remedy is a command, and Up recalls the message', async () => {
    const screen = fixture.open(['repl', '-m', 'gone'], { env: talkingTo(server.url), columns: 200 });
    await screen.stands('gone> ');
    screen.type('Hello\r');
    (await server.next()).refuse(400, 'UNKNOWN_MODE', 'No such mode.');
    await screen.shows(
      '(UNKNOWN_MODE) /mode NAME switches to another mode. Press Ctrl-C to clear the line first. Up brings the message back.',
    );
    await screen.stands('gone> Hello');
    screen.type('\x03');
    await screen.stands('gone> ');
    screen.type('/mode other\r');
    await screen.stands('other> ');
    screen.type('\x1b[A');
    await screen.stands('other> /mode other');
    screen.type('\x1b[A');
    await screen.stands('other> Hello');
    screen.type('\r');
    const reply = await server.next();
    expect(reply.body).toEqual({ mode: 'other', message: 'Hello' });
    reply.say('Hi.');
    reply.end();
    await screen.shows('Hi.');
    await leave(screen);
  });

  test('is broken between words, and never within a command or an address', async () => {
    const command = 'parley modes set a-mode-with-a-long-name --context TOKENS';
    const address = `https://host.example/${'long/'.repeat(12)}`;
    const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(server.url), columns: 40 });
    await screen.stands('slow> ');
    screen.type('Hello\r');
    const message = `The conversation is too long for it: ${command}, or see ${address} about that.`;
    (await server.next()).refuse(502, 'ENGINE_FAILED', message);
    await screen.stands('slow> Hello');
    // A row that the terminal has wrapped is one line here, as it is when it is copied.
    expect(screen.text.slice(greeting.length).split('\n')).toEqual([
      'slow> Hello',
      'The conversation is too long for it:',
      `${command},`,
      'or see',
      address,
      'about that. (ENGINE_FAILED) Enter sends',
      'it again.',
      'slow> Hello',
    ]);
    screen.type('\x15/nonsense and more\r');
    await screen.shows('There is no command /nonsense. /help\nlists the commands. Nothing was sent.');
  });
});

describe('on a server of Parley', () => {
  let served: ServedPlace;
  afterEach(() => served.end('SIGKILL'));

  test('no message is lost if the session was deleted, the key revoked or the mode removed elsewhere', async () => {
    const place = fixture.place();
    const { key, key_id } = await place.answer<{ key: string; key_id: string }>([
      'keys',
      'create',
      '--project',
      'p',
    ]);
    served = await servePlace(place);
    const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key, NO_PROXY: '*' };
    const screen = fixture.open(['repl', '-m', 'echo'], { env, columns: 200 }, place);
    await screen.stands('echo> ');
    screen.type('first\r');
    await screen.stands('echo (first)> ');
    screen.type('/status\r');
    await screen.shows('session_id: ses_');
    const id = /session_id: (\S+)/.exec(screen.text)?.[1] ?? '';
    await place.output(['sessions', 'delete', id], { env });
    screen.type('second\r');
    await screen.shows('(SESSION_NOT_FOUND)');
    await screen.stands('echo (first)> second');
    screen.type(`\x15/restore ${id}\r`);
    await screen.shows(`restored ${id}`);
    await screen.stands('echo (first)> ');
    screen.type('\x1b[A\x1b[A\r');
    await screen.until('said', () => screen.text.endsWith('\nsecond\n\necho (first)>'));
    screen.type('/mode eliza\r');
    await screen.stands('eliza (first)> ');
    await place.output(['keys', 'revoke', key_id]);
    screen.type('third\r');
    await screen.shows('(INVALID_API_KEY)');
    await screen.stands('eliza (first)> third');
    screen.type('\x15');
    expect(await leave(screen)).toBe(id);
  });

  test('a reply that was cut when its server ended is completed by /retry, and nothing is stored twice', async () => {
    const place = fixture.place();
    const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'p']);
    served = await servePlace(place);
    const env = { PARLEY_URL: served.url, PARLEY_API_KEY: key, NO_PROXY: '*' };
    const screen = fixture.open(['repl', '-m', 'echo'], { env, columns: 200 }, place);
    await screen.stands('echo> ');
    screen.type('first\r');
    await screen.stands('echo (first)> ');
    await served.end('SIGKILL');
    screen.type('second\r');
    await screen.shows('(NETWORK)');
    await screen.stands('echo (first)> second');
    served = await servePlace(place, ['--port', String(served.port)]);
    screen.type('\x15/retry\r');
    await screen.until('said', () => screen.text.endsWith('\nsecond\n\necho (first)>'));
    expect(screen.text).not.toContain('repeat the turn');
    const id = await leave(screen);
    const messages = await messagesOf(place, id).catch(() => null);
    expect(messages).toBeNull();
    expect((await place.output(['sessions', 'messages', id], { env })).match(/^second$/gm)).toHaveLength(2);
  });
});

test('at a third-party server without an archive a note says that earlier messages cannot be shown, and all else works', async () => {
  const screen = fixture.open(['repl', '-m', 'slow', '-s', 'theirs/1'], {
    env: talkingTo(server.url),
    columns: 200,
  });
  await screen.stands('slow (Slowly)> ');
  expect(screen.text).toContain('This server does not show earlier messages');
  screen.type('/sessions\r');
  await screen.shows('(UNSUPPORTED)');
  screen.type('/title New\r');
  await screen.until('told', () => screen.text.split('(UNSUPPORTED)').length === 3);
  screen.type('Hello\r');
  const reply = await server.next();
  expect(reply.body.session_id).toBe('theirs/1');
  reply.say('Hi.');
  reply.end();
  await screen.shows('Hi.');
  screen.type('/regenerate\r');
  await screen.until('told', () => screen.text.split('(UNSUPPORTED)').length === 4);
  screen.type('/retry\r');
  await screen.shows('The last reply is complete; send the message again for another one.');
  expect(await leave(screen)).toBe('theirs/1');
});

test('every line says the same about a session that was deleted elsewhere', async () => {
  const place = fixture.place();
  const screen = fixture.open(['repl', '-m', 'echo'], { columns: 200 }, place);
  await screen.stands('echo> ');
  screen.type('first\r');
  await screen.stands('echo (first)> ');
  await place.output(['sessions', 'delete', '--all', '--yes']);
  const advice =
    'It may be deleted, or belong to another project. /restore brings back a deleted session; /new starts a new one.';
  const lines = ['/undo', '/title X', '/history', '/tag +x', '/fork', '/pin', 'second'];
  const told = () => [...screen.text.matchAll(/\(SESSION_NOT_FOUND\) (.*)/g)].map(([, hint = '']) => hint);
  for (const [index, line] of lines.entries()) {
    screen.type(`${line}\r`);
    await screen.until('told', () => told().length === index + 1);
    await screen.stands(line === 'second' ? 'echo (first)> second' : 'echo (first)> ');
  }
  expect(told().map((hint) => hint.slice(0, advice.length))).toEqual(lines.map(() => advice));
});

test('a missing session ends the REPL with 5 before the first prompt', async () => {
  const screen = fixture.open(['repl', '-s', 'ses_00000000000000000000000000']);
  expect(await screen.ended).toEqual({ status: 5, signal: 0 });
  expect(screen.text).toContain('(SESSION_NOT_FOUND)');
});
