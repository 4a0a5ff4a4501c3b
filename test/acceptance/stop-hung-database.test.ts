// A single command ends within seconds of Ctrl-C, also where the database does not answer: it holds a lock, or the network is cut.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { chunk, sse, startStream } from '../support/model-server.ts';
import { type Outcome, outcomeOf, type Running } from '../support/parley.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { openSilentProxy } from '../support/silent-proxy.ts';

let server: PostgresServer;
let place: PlaceWithModel;
let id: string;
beforeAll(async () => {
  server = await startPostgres([]);
  place = await PlaceWithModel.open();
  const env = { PARLEY_STORE: storeAt(server.port) };
  const flags = ['--base-url', place.server.url, '--model', 'm'];
  await place.output(['modes', 'add', 'slow', ...flags], { env });
  id = (await place.answer<{ session_id: string }>(['chat', '-m', 'echo', 'one'], { env })).session_id;
}, 60_000);
afterAll(async () => {
  await place.close();
  await server.stop();
});

const storeAt = (port: number) => `postgres://${server.user}@127.0.0.1:${port}/postgres?schema=held`;

function start(words: readonly string[], port: number): { child: Running; outcome: Promise<Outcome> } {
  const child = place.start(words, { PARLEY_STORE: storeAt(port) });
  child.stdin.end();
  return { child, outcome: outcomeOf(child) };
}

/** Expects that the command ends with 130 within three seconds after Ctrl-C. */
async function expectStopped({ child, outcome }: ReturnType<typeof start>): Promise<Outcome> {
  const begun = performance.now();
  child.kill('SIGINT');
  const ended = await outcome;
  expect(performance.now() - begun).toBeLessThan(3000);
  expect(ended.status).toBe(130);
  return ended;
}

const commands = [
  ['sessions', 'list'],
  ['sessions', 'get', 'ID'],
  ['sessions', 'rename', 'ID', 'title'],
  ['sessions', 'delete', 'ID'],
  ['sessions', 'undo', 'ID'],
  ['sessions', 'search', 'one'],
  ['keys', 'list'],
  ['chat', '-n', '-m', 'echo', 'two'],
];

test('each command is stopped while it waits for a lock, and does nothing later', async () => {
  const holder = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: server.user,
    database: 'postgres',
  });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE held.sessions, held.api_keys, held.messages');
  const running = commands.map((words) =>
    start(
      words.map((word) => (word === 'ID' ? id : word)),
      server.port,
    ),
  );
  const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"held"%'`;
  await expect.poll(() => server.rows(waiting)).toHaveLength(commands.length);
  await Promise.all(running.map(expectStopped));
  await expect.poll(() => server.rows(waiting)).toHaveLength(0);
});

test('a command that opens a store behind a silent network is stopped', async () => {
  const proxy = await openSilentProxy(server.port);
  onTestFinished(() => proxy.close());
  proxy.fallSilent();
  const command = start(['sessions', 'list'], proxy.port);
  await delay(1000);
  await expectStopped(command);
});

test('a stopped chat waits longer for the database, and keeps what came of the reply', async () => {
  const proxy = await openSilentProxy(server.port);
  onTestFinished(() => proxy.close());
  place.script = (_request: unknown, response: ServerResponse) => {
    startStream(response).write(sse(chunk({ content: 'Half of it' })));
  };
  const { child, outcome } = start(['chat', '-n', '-m', 'slow', 'a story', '--title', 'Stopped'], proxy.port);
  await once(child.stdout, 'data');
  proxy.fallSilent();
  child.kill('SIGINT');
  await delay(2500);
  proxy.speak();
  expect(await outcome).toMatchObject({ status: 130, out: 'Half of it' });
  const env = { PARLEY_STORE: storeAt(server.port) };
  expect(await place.output(['sessions', 'messages', 'Stopped'], { env })).toContain('Half of it');
});
