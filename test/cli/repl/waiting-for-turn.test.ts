// What a REPL shows while a call waits for a turn that runs in the same session elsewhere.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replyOf, sendStream } from '../../support/model-server.ts';
import { PlaceWithModel } from '../../support/place-with-model.ts';
import { entered, ReplFixture } from './repl-fixture.ts';

const fixture = new ReplFixture();
let place: PlaceWithModel;
beforeEach(async () => {
  place = await PlaceWithModel.open();
  await place.add('slow');
});
afterEach(async () => {
  fixture.close();
  await place.close();
});

test('/undo and /redo show that another turn runs in the session', async () => {
  const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'one'])).session_id;
  const screen = fixture.open(['repl', '-s', id, '-m', 'echo'], { columns: 120 }, place);
  await screen.stands('echo (one)> ');
  const waiting = 'Waiting for another turn of the session';
  for (const [line, next] of [
    ['/undo', 'echo (one)> meanwhile'],
    ['/redo', 'echo (one)> '],
  ] as const) {
    const replying = new Promise<() => void>((resolve) => {
      place.script = (_request: unknown, response: ServerResponse) =>
        resolve(() => sendStream(response, replyOf('Slowly.')));
    });
    const other = place.parley(['chat', '-s', id, '-m', 'slow', 'meanwhile']);
    const reply = await replying;
    screen.type(`\x15${line}\r`);
    await screen.shows(waiting);
    reply();
    expect((await other).status).toBe(0);
    await screen.stands(next);
    expect(screen.text).not.toContain(waiting);
  }
});

test('/retry after /resume does not ask again for a reply that another terminal still receives', async () => {
  const id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'one'])).session_id;
  const replying = new Promise<() => void>((resolve) => {
    place.script = (_request: unknown, response: ServerResponse) =>
      resolve(() => sendStream(response, replyOf('Slowly.')));
  });
  const other = place.parley(['chat', '-s', id, '-m', 'slow', 'meanwhile']);
  const reply = await replying;
  const screen = fixture.open(['repl', '-m', 'slow'], { columns: 120 }, place);
  await screen.stands('slow> ');
  await entered(screen, `/resume ${id}`);
  expect(await entered(screen, '/retry')).toContain('still runs elsewhere. (SESSION_BUSY)');
  reply();
  expect((await other).status).toBe(0);
  expect(await entered(screen, '/retry')).toContain('The last reply is complete');
  expect(place.server.requests).toHaveLength(1);
});
