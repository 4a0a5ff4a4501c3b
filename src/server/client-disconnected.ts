// Stops the work of a client that has disconnected. There is nobody to respond to, so only the log shows it, as status 499 (a convention
// of nginx).

export const clientDisconnectedStatus = 499;

export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';

  constructor(cause?: unknown) {
    super('The client disconnected.', { cause });
  }
}
