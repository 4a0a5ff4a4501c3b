// Limits the bytes of each response on an undici connection. undici's handlers see only the body, but heads, chunk sizes and chunk
// extensions count too.
import type { Socket } from 'node:net';
import { tooLarge } from './http-failure.ts';

/** Ends the connection when a response has more bytes. A response begins with the first byte after a request was written. */
export function limitResponses(socket: Socket, maxBytes: number): void {
  let written = socket.bytesWritten;
  let read = socket.bytesRead;
  let start = read;
  // This listener only counts. undici reads the bytes.
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) start = read;
    written = socket.bytesWritten;
    read = socket.bytesRead;
    if (read - start > maxBytes) socket.destroy(tooLarge(maxBytes));
  });
}
