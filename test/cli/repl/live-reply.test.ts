// While a reply pauses, a live text is shown at its end, which is erased when the reply continues.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openPacedModel, type PacedModel } from '../../support/paced-model.ts';
import type { Place } from '../../support/parley.ts';
import { sendJson, serve } from '../../support/scripted-server.ts';
import { servePlace } from '../../support/served-place.ts';
import { ReplFixture, talkingTo } from './repl-fixture.ts';

const fixture = new ReplFixture();
let model: PacedModel;
let place: Place;
beforeAll(async () => {
  model = await openPacedModel();
});
afterEach(() => fixture.close());
afterAll(() => model.close());

async function placeWithModel(): Promise<Place> {
  place = fixture.place();
  await place.output(['models']);
  await place.output(['modes', 'add', 'slow', '--base-url', model.url, '--model', 'm']);
  return place;
}

const table = ['a │ b', '──┼──', '1 │ 2', '3 │ 4'];

test('the live text counts the rows of a buffered table, and shows the thinking before it', async () => {
  await placeWithModel();
  const screen = fixture.open(['repl', '-m', 'slow'], { columns: 60 }, place);
  await screen.stands('slow> ');
  screen.type('Hello\r');
  const reply = await model.next();
  reply.think('Let me see.');
  await screen.until('Thinking', () => /Thinking \d s/.test(screen.text));
  reply.say('So:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n');
  await screen.shows('table, 1 row');
  reply.say('| 3 | 4 |\n');
  await screen.shows('table, 2 rows');
  reply.say('\nAnd then ');
  await screen.shows('And then Waiting');
  reply.say('an end.');
  reply.end();
  await screen.stands('slow (Hello)> ');
  expect(screen.text.split('\n')).toEqual([
    '/help lists the commands and keys.',
    ...['slow> Hello', 'So:', '', ...table, '', 'And then an end.', '', 'slow (Hello)>'],
  ]);
});

test('a server reports the thinking, too', async () => {
  await placeWithModel();
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  const served = await servePlace(place);
  const env = { ...talkingTo(served.url), PARLEY_API_KEY: key };
  const screen = fixture.open(['chat', '-n', '-m', 'slow', 'Hello'], { env });
  const reply = await model.next();
  reply.think('Let me see.');
  await screen.until('Thinking', () => /Thinking \d s/.test(screen.text));
  reply.think('And again.');
  reply.say('So: ');
  await screen.shows('So: Waiting');
  reply.think('More.');
  await screen.until('Thinking again', () => /So: Thinking \d s/.test(screen.text));
  reply.say('yes.');
  reply.end();
  await screen.ended;
  expect(screen.text).toMatch(/^So: yes\.\nsession \S+, continue with/);
  await served.end('SIGTERM');
});

test('the live text says that a server requested the wait, and not with --quiet', async () => {
  const refused = new Set<string>();
  const repeated: ServerResponse[] = [];
  const server = await serve(({ body }, response) => {
    const { message } = JSON.parse(body);
    if (refused.has(message)) return repeated.push(response);
    refused.add(message);
    response.setHeader('Retry-After', '1');
    return sendJson(response, { success: false, error: { code: 'RATE_LIMITED', message: 'Later.' } }, 429);
  });
  try {
    const chat = ['chat', '-n', '-m', 'x'];
    const env = talkingTo(server.url);
    const quiet = fixture.open([...chat, '--quiet', 'one'], { env });
    const screen = fixture.open([...chat, 'other'], { env });
    await screen.until('the wait', () => /Waiting \d s at the server’s request: \d s/.test(screen.text));
    await expect.poll(() => repeated.length).toBe(2);
    for (const response of repeated)
      sendJson(response, { success: true, data: { session_id: 's', reply: 'Hi.' } });
    await Promise.all([screen.ended, quiet.ended]);
    expect(screen.text).toMatch(/^Hi\.\nsession s, continue with/);
    expect(quiet.text).toBe('Hi.');
    expect(quiet.bytes).not.toContain('Waiting');
  } finally {
    await server.close();
  }
});
