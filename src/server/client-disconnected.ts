// Stops the work of a client that has disconnected. There is nobody to respond to, so only the log shows it, as status 499 (a convention
// of nginx).
import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

export const clientDisconnectedStatus = 499;

export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';

  constructor(cause?: unknown) {
    super('The client disconnected.', { cause });
  }
}

/**
 * Calls the listener when the client disconnects, at once if it has already. The returned function ends the wait. The signal of a request
 * is only read if there is no socket, because Node takes 1 KB for it.
 */
export function onDisconnect(request: Request, incoming: Readable | null, listener: () => void): () => void {
  if (incoming instanceof IncomingMessage) {
    const { socket } = incoming;
    if (socket.destroyed) listener();
    socket.on('close', listener);
    return () => socket.off('close', listener);
  }
  const { signal } = request;
  if (signal.aborted) listener();
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
