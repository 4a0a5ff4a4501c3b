// Counts the bytes of each answer on a connection that undici reads, because undici tells of the body alone: heads, sizes of chunks and
// their extensions, which it passes over, count as well.
import type { Socket } from 'node:net';
import { tooLarge } from './http-failure.ts';

/** Ends the connection when an answer has more bytes. An answer begins with the first byte after a request was written. */
export function limitAnswers(socket: Socket, mostBytes: number): void {
  let written = socket.bytesWritten;
  let read = socket.bytesRead;
  let start = read;
  // The event only tells of bytes: undici takes them.
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) start = read;
    written = socket.bytesWritten;
    read = socket.bytesRead;
    if (read - start > mostBytes) socket.destroy(tooLarge(mostBytes));
  });
}
