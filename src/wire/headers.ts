// The headers that server and client agree on, beyond those of HTTP.

export const extensionsHeader = 'Parley-Extensions';
export const idempotencyHeader = 'Idempotency-Key';
/** On every answer: finds the call in the server's log. */
export const requestIdHeader = 'Parley-Request-Id';

export const eventStreamType = 'text/event-stream';
