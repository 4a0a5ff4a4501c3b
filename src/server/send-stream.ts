// Sends the body of a streamed response to its socket, at the pace of the reader. hono's server would send a web stream.
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { streamOf } from './responses.ts';

/** Returns a response that has no stream. For one that has, it returns the response for which hono's server sends nothing. */
export function sendStream(response: Response, outgoing: ServerResponse): Response {
  const stream = streamOf(response);
  if (stream === null) return response;
  const send = () => {
    void stream.read().then(({ done, value }) => {
      if (outgoing.destroyed) return;
      if (done) outgoing.end();
      else if (outgoing.write(value)) send();
      else outgoing.once('drain', send);
    });
  };
  if (outgoing.destroyed) stream.cancel();
  outgoing.on('close', () => stream.cancel());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
  send();
  return RESPONSE_ALREADY_SENT;
}
