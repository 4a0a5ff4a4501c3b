// The port of the metrics: its limits for anybody who can reach it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  listenForMetrics,
  type MetricsListening,
  maxConnections,
} from '../../src/server/metrics-listener.ts';

let listening: MetricsListening;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listening.stop();
});

const open = async (text: () => Promise<string>) => {
  listening = await listenForMetrics({ text, close: () => {} }, { host: '127.0.0.1', port: 0 });
};

test('idle connections take a limited number of files from the server', async () => {
  await open(async () => '');
  const { hostname, port } = new URL(listening.url);
  for (let count = 0; count < maxConnections; count++) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  const last = connect(Number(port), hostname);
  sockets.push(last);
  last.resume();
  // The kernel takes the connection, and the server closes it.
  await once(last, 'close');
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([last]);
});

test('metrics that cannot be read fail only that response', async () => {
  let isBroken = true;
  await open(async () => {
    if (isBroken) throw new Error('broken');
    return 'numbers\n';
  });
  expect((await fetch(listening.url)).status).toBe(500);
  isBroken = false;
  expect(await (await fetch(listening.url)).text()).toBe('numbers\n');
});
