// The headers that the server and the client of this API use, besides those of HTTP itself.

export const extensionsHeader = 'Parley-Extensions';
export const idempotencyHeader = 'Idempotency-Key';
/** Every response has it. It identifies the call in the server's log. */
export const requestIdHeader = 'Parley-Request-Id';

export const eventStreamType = 'text/event-stream';
