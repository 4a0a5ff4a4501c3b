// Ctrl-C in the REPL while the database of its store does not answer.

import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { chunk, sse, startStream } from '../../support/model-server.ts';
import type { Place } from '../../support/parley.ts';
import { PlaceWithModel } from '../../support/place-with-model.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openSilentProxy } from '../../support/silent-proxy.ts';
import { entered, leave, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres([]);
}, 60_000);
afterEach(() => fixture.close());
afterAll(() => server.stop());

interface Options {
  readonly mode?: string;
  /** True if the database does not answer from the beginning. */
  readonly isSilent?: boolean;
  readonly place?: Place;
}

const storeAt = (port: number) => `postgres://${server.user}@127.0.0.1:${port}/postgres?schema=hung`;

async function openAtProxy({ mode = 'echo', isSilent = false, place }: Options = {}) {
  const proxy = await openSilentProxy(server.port);
  onTestFinished(() => proxy.close());
  const env = { PARLEY_STORE: storeAt(proxy.port) };
  if (isSilent) proxy.fallSilent();
  const screen = fixture.open(['repl', '-m', mode], { columns: 110, env }, place);
  await screen.stands(`${mode}> `);
  return { screen, proxy };
}

test('ends the wait of a message and of a slash command soon, and the REPL goes on when the database answers', async () => {
  const { screen, proxy } = await openAtProxy();
  expect(await entered(screen, 'Hello')).toMatch(/Hello$/);
  proxy.fallSilent();
  for (const line of ['Are you there?', '/sessions']) {
    screen.type(`${line}\r`);
    await delay(300);
    const pressed = performance.now();
    screen.type('\x03');
    await screen.stands('echo (Hello)> ');
    expect(performance.now() - pressed).toBeLessThan(3000);
  }
  expect(screen.text).toContain('[stopped; Up brings the message back]');
  proxy.speak();
  expect(await entered(screen, 'And now?')).toBe('And now?');
  await leave(screen);
});

test('ends the wait for the end of a reply, and stores the received part when the database answers', async () => {
  const place = await PlaceWithModel.open();
  onTestFinished(() => place.close());
  const env = { PARLEY_STORE: storeAt(server.port) };
  await place.output(['modes', 'add', 'slow', '--base-url', place.server.url, '--model', 'm'], { env });
  place.script = (_request: unknown, response: ServerResponse) => {
    startStream(response).write(sse(chunk({ content: 'Half of it' })));
  };
  const { screen, proxy } = await openAtProxy({ mode: 'slow', place });
  screen.type('A story\r');
  await screen.shows('Half of');
  proxy.fallSilent();
  const pressed = performance.now();
  screen.type('\x03');
  await screen.shows('Stopped, but the store does not answer.');
  // The title is read while the reply arrives, perhaps not before the silence.
  await screen.until('the prompt', () => /^slow( \(A story\))?>$/.test(screen.cursorRow));
  expect(performance.now() - pressed).toBeLessThan(3000);
  proxy.speak();
  await expect
    .poll(() => place.output(['sessions', 'messages', 'A story'], { env }), { timeout: 20_000 })
    .toContain('interrupted');
  await leave(screen);
}, 60_000);

test('can be left while the database does not answer', async () => {
  const { screen, proxy } = await openAtProxy();
  expect(await entered(screen, 'Hello')).toMatch(/Hello$/);
  proxy.fallSilent();
  screen.type('Are you there?\r');
  await delay(300);
  screen.type('\x03');
  await screen.stands('echo (Hello)> ');
  const pressed = performance.now();
  await leave(screen);
  expect(performance.now() - pressed).toBeLessThan(6000);
}, 60_000);

test('ends the wait for a store that is being opened', async () => {
  const { screen } = await openAtProxy({ isSilent: true });
  screen.type('Are you there?\r');
  await delay(1000);
  const pressed = performance.now();
  screen.type('\x03');
  await screen.shows('[stopped; Up brings the message back]');
  await screen.stands('echo> ');
  expect(performance.now() - pressed).toBeLessThan(3000);
}, 60_000);

test.each(['\x04', '/quit\r'])(
  'can be left soon while its store is being opened, with %j',
  async (keys) => {
    const { screen } = await openAtProxy({ isSilent: true });
    await delay(500);
    const pressed = performance.now();
    screen.type(keys);
    expect(await screen.ended).toMatchObject({ status: 0 });
    expect(performance.now() - pressed).toBeLessThan(2000);
  },
  60_000,
);
