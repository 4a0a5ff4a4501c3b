// A server that listens survives what happens to single connections.
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startListening } from '../../src/server/listening-port.ts';

test('a server still listens after connections that it could not accept', async () => {
  const server = createServer((_request, response) => void response.end('here'));
  onTestFinished(() => void server.close());
  const { url } = await startListening(server, '127.0.0.1', 0);
  const failure = Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS' });
  // Node reports such a failure as an event of the server. Without a listener the event would end the process.
  for (let count = 0; count < 2; count += 1) server.emit('error', failure);
  expect(await (await fetch(url)).text()).toBe('here');
});
