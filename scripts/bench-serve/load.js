// The load generator, in a process of its own: it keeps connections busy with one request each, over bare sockets, to use as little processor
// time as possible. It gets `{ ports, requests, milliseconds }`, and returns the rate and the times. Every port gets 32 connections, or as many
// as `connections` says.
import { connect } from 'node:net';

process.on('message', async ({ ports, requests, milliseconds, connections = 32 }) => {
  const start = performance.now();
  const state = { next: 0, times: [], until: start + milliseconds, requests };
  const places = Array.from(
    { length: connections * ports.length },
    (_, index) => ports[index % ports.length],
  );
  await Promise.all(places.map((port) => keepBusy(port, state)));
  const answered = state.times.length;
  const sorted = Float64Array.from(state.times).sort();
  const timeOf = (part) => sorted[Math.floor((answered - 1) * part)];
  const perSecond = (answered * 1000) / (performance.now() - start);
  process.send({ answered, perSecond, half: timeOf(0.5), almostAll: timeOf(0.99) });
});
process.send('ready');

function keepBusy(port, state) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(state.requests[state.next % state.requests.length]);
      state.next += 1;
    };
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('connect', send);
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
      const now = performance.now();
      state.times.push(now - sentAt);
      if (now < state.until) send();
      else socket.destroy();
    });
  });
}
