// Writes the same bytes to a stream repeatedly, as fast as they are read, until the reader has left.
import type { Writable } from 'node:stream';

export function flood(stream: Writable, again: string | Buffer): void {
  const write = () => {
    while (!stream.destroyed && stream.write(again));
  };
  stream.on('drain', write);
  write();
}
