// After Ctrl-C: the place of the stopped message and of its files.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { encodeEvent } from '../../../src/wire/chat-event-encoding.ts';
import { openPacedServer, type PacedServer } from '../../support/paced-server.ts';
import { serve } from '../../support/scripted-server.ts';
import { leave, messagesOf, ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: PacedServer;
beforeAll(async () => {
  server = await openPacedServer();
});
afterEach(() => fixture.close());
afterAll(() => server.close());

test('a stopped wait keeps the files of the message until it is stored, and sends them with it', async () => {
  const place = fixture.place();
  await place.shell('echo Buy milk. > notes.md');
  const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(server.url) }, place);
  await screen.stands('slow> ');
  screen.type('/file notes.md\r');
  await screen.stands('slow +1> ');
  screen.type('Read it\r');
  const unanswered = await server.next();
  screen.type('\x03');
  await unanswered.closed;
  await screen.stands('slow +1> ');
  screen.type('\x1b[A\r');
  const reply = await server.next();
  expect(reply.body.message).toBe('Read it\n\n```notes.md\nBuy milk.\n```');
  reply.say('One ');
  await screen.shows('One');
  screen.type('\x03');
  await reply.closed;
  await screen.shows('[stopped; the partial reply is kept]');
  await screen.until('the prompt', () => /^slow( \(Slowly\))?>$/.test(screen.cursorRow));
  screen.type('Again\r');
  const next = await server.next();
  expect(next.body.message).toBe('Again');
  next.say('Three.');
  next.end();
  await screen.shows('Three.');
});

test('Ctrl-C stops the wait for a pipe without a writer, also when it is read again with the message', async () => {
  const place = fixture.place();
  await place.shell('mkfifo pipe');
  const screen = fixture.open(['repl', '-m', 'echo'], {}, place);
  await screen.stands('echo> ');
  screen.type('/file pipe\r');
  await delay(200);
  screen.type('\x03');
  await screen.shows('[stopped]');
  await screen.stands('echo> ');
  screen.type('/file pipe\r');
  await place.shell('echo Buy milk. > pipe');
  await screen.stands('echo +1> ');
  screen.type('Read it\r');
  await delay(200);
  screen.type('\x03');
  await screen.shows('[stopped; Up brings the message back]');
  await screen.stands('echo +1> ');
  screen.type('\x1b[A\r');
  await place.shell('echo And bread. > pipe');
  await screen.stands('echo (Read it)> ');
  const [message] = await messagesOf(place, await leave(screen));
  expect(message?.content).toBe('Read it\n\n```pipe\nAnd bread.\n```');
});

test('a stopped command does not mention the message that was stopped before it', async () => {
  const data = { session_id: 'one', message_id: 'first', mode: 'slow' };
  const silent = await serve(({ path }, response) => {
    if (path !== '/v1/chat') return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(encodeEvent({ event: 'session', data }));
  });
  try {
    const screen = fixture.open(['repl', '-m', 'slow'], { env: talkingTo(silent.url) });
    await screen.stands('slow> ');
    screen.type('Hello\r');
    await screen.until('asked for a title', () => silent.requests.length === 2);
    screen.type('\x03');
    await screen.shows('[stopped; your message is kept]');
    await screen.stands('slow> ');
    screen.type('/mode other\r');
    await screen.until('asked for modes', () => silent.requests.length === 3);
    screen.type('\x03');
    await screen.until('stopped', () => screen.text.endsWith('> /mode other\n[stopped]\nslow>'));
  } finally {
    await silent.close();
  }
});

test('at a plain prompt, /retry sends the stopped message', async () => {
  const env = { ...talkingTo(server.url), TERM: 'dumb' };
  const screen = fixture.open(['repl', '-m', 'slow'], { env });
  await screen.until('the prompt', () => screen.text.endsWith('slow>'));
  screen.type('Hello\r');
  const unanswered = await server.next();
  screen.type('\x03');
  await unanswered.closed;
  await screen.shows('[stopped; /retry sends it again]');
  await screen.stands('slow> ');
  screen.type('/retry\r');
  const reply = await server.next();
  expect(reply.body.message).toBe('Hello');
  expect(reply.key).toBe(unanswered.key);
  reply.end();
});
