// Events that one side encodes are decoded by the other.
import { describe, expect, it } from 'vitest';
import { readEventStream } from '../../src/http/event-stream.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { encodeEvent, encodeFailure, thinkingEvent } from '../../src/wire/chat-event-encoding.ts';
import { readStreamEvent } from '../../src/wire/stream-event.ts';

async function read(text: string) {
  const bytes = (async function* () {
    yield new TextEncoder().encode(text);
  })();
  const all = [];
  for await (const { event, data } of readEventStream(bytes, 1000)) all.push(readStreamEvent(event, data));
  return all;
}

describe('an event of a chat', () => {
  it('is decoded as it was encoded', async () => {
    const body = { success: true, data: { reply: 'a\r\nb\u2028' }, extra: 1 };
    const events: ChatEvent[] = [
      { event: 'session', data: { session_id: 's', message_id: 'm', mode: 'echo' } },
      { event: 'reasoning', data: { text: 'hm' } },
      { event: 'delta', data: { text: 'a\r\n\n😀\u0085' } },
      { event: 'done', data: {} as never, body },
    ];
    const failure = { success: false, error: { code: 'UNAVAILABLE', message: 'Later.', session_id: 's' } };
    const text = events.map(encodeEvent).join(': still here\n\n') + thinkingEvent + encodeFailure(failure);
    expect(await read(text)).toEqual([
      { kind: 'session', sessionId: 's', messageId: 'm', mode: 'echo' },
      { kind: 'text', event: 'reasoning', text: 'hm' },
      { kind: 'text', event: 'delta', text: 'a\r\n\n😀\u0085' },
      { kind: 'done', body },
      { kind: 'thinking' },
      {
        kind: 'error',
        error: expect.objectContaining({ code: 'UNAVAILABLE', session_id: 's', body: failure }),
      },
    ]);
  });

  it('with an unknown name is ignored', () => {
    for (const name of ['message', 'ping', 'DONE', 'toString'])
      expect(readStreamEvent(name, '{}')).toBeNull();
  });

  it.each([
    ['delta', 'not JSON'],
    ['delta', '{"success":true,"data":{}}'],
    ['delta', '{"success":true,"data":{"text":7}}'],
    ['session', '{"data":{"session_id":"s"}}'],
    ['done', '[DONE]'],
    ['done', '{}'],
  ])('%s with %s cannot be read', (event, data) => {
    expect(readStreamEvent(event, data)).toEqual({ kind: 'unreadable' });
  });

  it('done with success false is a failure', () => {
    expect(readStreamEvent('done', '{"success":false,"error":"no"}')).toMatchObject({
      kind: 'error',
      error: { message: 'no', code: 'ENGINE_FAILED' },
    });
  });
});
