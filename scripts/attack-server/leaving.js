// Clients that begin the body of a request and disconnect at once: measures the processor time of the server for a thousand of them, and the
// waits of another client.
import { once } from 'node:events';
import { connect } from 'node:net';

const clients = 1000;
const small = 100;
const large = 1024 * 1024;
/** By name: the headers of the body, and the bytes of it that are sent. */
const bodies = {
  'small bodies': [`Content-Length: ${small}`, '{'],
  'large bodies': [`Content-Length: ${large}`, '{'],
  'bodies of 70 KiB of 1 MiB': [`Content-Length: ${large}`, `{"title":"${'x'.repeat(70 * 1024)}`],
  'chunked bodies': ['Transfer-Encoding: chunked', '1\r\n{\r\n'],
};

/** The two halves of each attack, for a URL and a key. The second closes the connections of the first. */
export function leavingClients({ url, key }) {
  return Object.entries(bodies).flatMap(([name, [header, bytes]]) => {
    let sockets = [];
    const head = `POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const begin = async () => {
      const { hostname, port } = new URL(url);
      sockets = Array.from({ length: clients }, () => connect(Number(port), hostname));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.on('error', () => {}).write(`${head}${header}\r\n\r\n${bytes}`);
      await settled();
      return [];
    };
    const leave = async () => {
      for (const socket of sockets) socket.resetAndDestroy();
      await settled();
      return [];
    };
    return [
      [`${clients} begin ${name}`, begin],
      [`${clients} leave ${name}`, leave],
    ];
  });
}

/** The time after which the server has certainly read or noticed everything. */
function settled() {
  return new Promise((resolve) => setTimeout(resolve, 3000));
}
