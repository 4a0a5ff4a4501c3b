// The reason to stop work whose client has gone. There is nobody to answer, so only the log shows it, as status 499 (a convention of
// nginx).

export const clientDisconnectedStatus = 499;

export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';

  constructor(cause?: unknown) {
    super('The client went away.', { cause });
  }
}
