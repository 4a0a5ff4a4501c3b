// Why work stops for which nobody waits any more. No answer is made of it: it shows in the log alone, as status 499.

export const clientGoneStatus = 499;

export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor(cause?: unknown) {
    super('The client went away.', { cause });
  }
}
