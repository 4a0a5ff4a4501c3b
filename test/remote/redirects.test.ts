// The target of a redirect gets neither key nor prompt, nor a connection.
import { describe, expect, it } from 'vitest';
import { callWith, failureOf, say } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { serve, serveBytes } from '../support/scripted-server.ts';

describe('a redirect', () => {
  const targets: readonly [string, (sink: string, own: string) => string][] = [
    ['another host', (sink) => `${sink}/v1/chat`],
    ['the same host by another name', (sink) => `${sink.replace('127.0.0.1', 'localhost')}/v1/chat`],
    ['another scheme', (sink) => `${sink.replace('http:', 'https:')}/v1/chat`],
    ['a place without a scheme', (sink) => `${sink.replace('http:', '')}/v1/chat`],
    ['the server itself', (_sink, own) => `${own}/elsewhere`],
  ];
  const codes = [301, 302, 303, 307, 308];

  it.each(codes.flatMap((code) => targets.map(([name, target]) => [code, name, target] as const)))(
    'of %d to %s is not followed',
    async (code, _name, target) => {
      let arrived = 0;
      const sink = await serveBytes(() => {
        arrived += 1;
      });
      const server = await serve((_request, response) => {
        response.writeHead(code, { location: target(sink.url, server.url) }).end();
      });
      const { backend } = await openRemote(server.url);
      const call = callWith('secret-key');
      const works = [
        () => say(backend.service, call, 'secret prompt'),
        () => backend.service.getSession(call, 'a'),
        () => backend.service.deleteSession(call, 'a'),
      ];
      for (const work of works) {
        const failure = await failureOf(work());
        expect(failure.code).toBe('REDIRECT');
        expect(failure.message).toContain(server.url);
        expect(failure.message).toContain(new URL(target(sink.url, server.url), server.url).host);
        expect(failure.message + failure.hint).not.toContain('secret');
      }
      expect(server.requests).toHaveLength(works.length);
      expect([arrived, sink.connections()]).toEqual([0, 0]);
      await backend.close();
      await server.close();
      await sink.close();
    },
  );
});
