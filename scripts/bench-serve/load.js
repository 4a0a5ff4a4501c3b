// The load: a process of its own that keeps 32 connections busy with one request each, over bare sockets, so that it costs the
// server's core as little as can be. Told `{ port, requests, milliseconds }`, it answers with the rate.
import { connect } from 'node:net';

const connections = 32;

process.on('message', async ({ port, requests, milliseconds }) => {
  const state = { next: 0, answered: 0, until: performance.now() + milliseconds, requests };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, () => keepBusy(port, state)));
  process.send({ perSecond: (state.answered * 1000) / (performance.now() - start) });
});
process.send('ready');

function keepBusy(port, state) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const ask = () => {
      socket.write(state.requests[state.next % state.requests.length]);
      state.next += 1;
    };
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('connect', ask);
    socket.on('data', (text) => {
      received += text;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
      if (!received.startsWith('HTTP/1.1 200') || length === undefined) {
        reject(new Error(`Not the answer that was expected: ${received}`));
        return socket.destroy();
      }
      if (received.length < headEnd + 4 + Number(length)) return;
      received = '';
      state.answered += 1;
      if (performance.now() < state.until) ask();
      else socket.destroy();
    });
  });
}
