// The headers that the server and the client of this API use, besides those of HTTP itself.

export const extensionsHeader = 'Parley-Extensions';
export const idempotencyHeader = 'Idempotency-Key';
/** The client sends `export` when it reads a session for an export. Other servers may ignore it. */
export const purposeHeader = 'Parley-Purpose';
export const exportPurpose = 'export';
/** Every response has it. It identifies the call in the server's log. */
export const requestIdHeader = 'Parley-Request-Id';

export const eventStreamType = 'text/event-stream';
