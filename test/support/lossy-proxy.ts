// A proxy between a client and a real server that forwards every request, and loses a share of the responses after the server has acted: the
// connection ends instead, at once, in the middle, or just before the end.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type ListeningServer, listening } from './scripted-server.ts';

export interface LossyProxy extends ListeningServer {
  readonly lost: () => number;
}

/** `loses` tells whether the answer to a request of this count (from 1) is lost, and how much of it arrives (0 to 1). */
export async function openLossyProxy(
  targetUrl: string,
  loses: (count: number) => number | null,
): Promise<LossyProxy> {
  const target = new URL(targetUrl);
  let count = 0;
  let lost = 0;

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    count += 1;
    const share = loses(count);
    const { method, headers, url: path = '' } = incoming;
    const onward = request({ host: target.hostname, port: target.port, method, headers, path });
    onward.end(await buffer(incoming));
    const answer = await new Promise<IncomingMessage>((resolve) => onward.on('response', resolve));
    const body = await buffer(answer);
    if (share !== null) lost += 1;
    if (share === 0) return void response.destroy();
    const { 'transfer-encoding': _chunked, ...rest } = answer.headers;
    response.writeHead(answer.statusCode ?? 500, { ...rest, 'content-length': body.length });
    if (share === null) return void response.end(body);
    response.write(body.subarray(0, Math.floor(body.length * share)), () => response.destroy());
  }

  const server = createServer((incoming, response) => void pass(incoming, response));
  return { ...(await listening(server, 'http')), lost: () => lost };
}
