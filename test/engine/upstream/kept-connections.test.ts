// A request is sent again in one case only: on a kept connection that the server has closed. Any other repeated request might be answered, and
// paid for, twice.
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { replyOf } from '../../support/model-server.ts';
import { UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents, textOf } from '../engine-suite.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

const hello = { history: [], message: 'Hello' };

describe('a kept connection that its server closes', () => {
  const answer = (body: string) =>
    `HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

  /** Each connection serves one request; `then` is done to it at the first byte of a second one. */
  async function asking(then: (socket: Socket) => unknown) {
    const opened: Socket[] = [];
    const server = await stubs.serveBytes((socket) => {
      opened.push(socket);
      socket.write(answer(replyOf('Hi')));
      socket.once('data', () => then(socket));
    });
    const engine = stubs.engine(server.url);
    await collectEvents(engine, hello);
    return { opened, again: collectEvents(engine, hello) };
  }

  it('when the next request arrives is replaced, because the request was not processed', async () => {
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const { opened, again } = await asking((socket) => socket[end]());
      expect(textOf(await again)).toBe('Hi');
      expect(opened).toHaveLength(2);
    }
  });

  it.each<readonly [string, (socket: Socket) => unknown]>([
    ['after the first byte of an answer', (socket) => socket.write('H', () => socket.resetAndDestroy())],
    ['after a while, in which it may have worked', (socket) => setTimeout(() => socket.destroy(), 1100)],
  ])('%s is reported, and the request is not sent again', async (_when, then) => {
    const { opened, again } = await asking(then);
    await expect(again).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/was lost/),
    });
    expect(opened).toHaveLength(1);
  });
});
