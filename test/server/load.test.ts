// Many requests at once, and a store that others lock: writes share transactions, and a lock elsewhere stops no read.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockStore } from '../support/store-lock.ts';
import { RawConnection } from './raw-connection.ts';
import { bodyOf, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
beforeEach(async () => {
  server = await openServer({ lockWaitMs: 1000 });
});
afterEach(() => server.close());

test('sessions that are created concurrently share a few transactions, and each is on disk', async () => {
  const { port } = await server.listen();
  const commits = commitsIn(server.directory);
  const request = `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
  const connections = await Promise.all(Array.from({ length: 100 }, () => RawConnection.open(port)));
  // Each connection is accepted before the burst, because libuv accepts one per iteration of its loop.
  for (const connection of connections) {
    await connection.send('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.answer();
  }
  for (const connection of connections) void connection.send(request);
  const answers = await Promise.all(connections.map((connection) => connection.answer()));
  for (const connection of connections) connection.destroy();
  expect(answers.map((answer) => answer?.status)).toEqual(Array(100).fill(200));
  expect(commitsIn(server.directory) - commits).toBeLessThanOrEqual(5);
  const ids = answers.map((answer) => JSON.parse(answer?.body ?? '').data.session_id);
  const { data } = await bodyOf(await server.ask('GET', '/v1/sessions?limit=200'));
  expect(data.items.map((item: { session_id: string }) => item.session_id).sort()).toEqual(ids.sort());
});

test('while another program locks the store, reads and healthz succeed, and writes get 503', async () => {
  const created = await bodyOf(await server.ask('POST', '/v1/sessions'));
  const lock = await lockStore(join(server.directory, 'parley.db'));
  try {
    const writing = server.ask('POST', '/v1/sessions', { body: { title: 'waits' } });
    for (const path of ['/healthz', '/readyz', '/v1/models', `/v1/sessions/${created.data.session_id}`]) {
      expect([path, (await server.ask('GET', path)).status]).toEqual([path, 200]);
    }
    const refused = await writing;
    const body = await bodyOf(refused);
    expect([refused.status, body.error?.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'UNAVAILABLE',
      '1',
    ]);
    expect(JSON.stringify(body)).not.toContain(server.directory);
  } finally {
    await lock.release();
  }
  expect((await server.ask('POST', '/v1/sessions')).status).toBe(200);
});

/**
 * The number of transactions in the write-ahead log (https://sqlite.org/fileformat.html, “WAL File Format”): the frame that ends one
 * contains the size of the database. Another process reads the log, because closing the file here would drop SQLite's locks.
 */
function commitsIn(directory: string): number {
  const count = `
    const log = require('node:fs').readFileSync(process.argv[1]);
    const frame = 24 + log.readUInt32BE(8);
    let commits = 0;
    for (let at = 32; at + frame <= log.length; at += frame) {
      const isOfThisLog = log.readBigUInt64BE(at + 8) === log.readBigUInt64BE(16);
      if (isOfThisLog && log.readUInt32BE(at + 4) !== 0) commits += 1;
    }
    console.log(commits);`;
  return Number(
    execFileSync(process.execPath, ['-e', count, join(directory, 'parley.db-wal')], { encoding: 'utf8' }),
  );
}
