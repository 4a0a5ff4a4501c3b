// Streams that differ from the reply that the server stores: they never count as that reply.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { serve } from '../support/scripted-server.ts';

const event = (name: string, data: unknown) =>
  `event: ${name}\ndata: ${JSON.stringify({ success: true, data })}\n\n`;
const session = event('session', { session_id: 's-1', message_id: 'm-1', mode: 'm' });
const delta = (text: string) => event('delta', { text });

async function chat(body: string | Buffer | readonly string[], replyPointer: string | null = null) {
  const server = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(Array.isArray(body) ? body.join('') : body);
  });
  const { backend } = await openRemote(server.url, { replyPointer });
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const seen: ChatEvent[] = [];
  const work = (async () => {
    const request = { mode: 'm', message: 'x', session_id: null };
    for await (const event of backend.service.chat(callWith('k'), request, 'chunks')) seen.push(event);
  })();
  work.catch(() => {});
  return { seen, work };
}

const shown = (seen: readonly ChatEvent[]) =>
  seen.flatMap((event) => (event.event === 'delta' ? [event.data.text] : [])).join('');

describe('a stream', () => {
  it.each([
    ['another reply', 'Yes, delete it.'],
    ['a longer one', 'No, keep it. All of it.'],
    ['an empty one', ''],
  ])('that ends with %s is no response, after the shown text', async (_which, reply) => {
    const { seen, work } = await chat([session, delta('No, '), delta('keep it.'), event('done', { reply })]);
    expect(await failureOf(work)).toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('streamed'),
      session_id: 's-1',
      message_id: 'm-1',
      body: null,
    });
    expect(shown(seen)).toBe('No, keep it.');
    expect(seen.map((event) => event.event)).not.toContain('done');
  });

  it.each<[string, string, unknown, string | null]>([
    ['repeats the reply', 'No, keep it.', { reply: 'No, keep it.' }, null],
    ['repeats it without the white space around it', '\n No, keep it.\n', { reply: 'No, keep it.' }, null],
    ['does not repeat it', 'No, keep it.', { message_count: 2 }, null],
    ['says something else with it', 'No, keep it.', { reply: { role: 'assistant' } }, null],
    ['keeps it where the profile says', 'No, keep it.', { reply: 'ok', text: 'No, keep it.' }, '/data/text'],
  ])('whose end %s is whole', async (_what, text, data, pointer) => {
    const { seen, work } = await chat([session, delta(text), event('done', data)], pointer);
    await work;
    expect(seen.at(-1)).toMatchObject({ event: 'done' });
  });

  it('that shows nothing before its end is whole', async () => {
    const { seen, work } = await chat([session, event('done', { reply: 'No.' })]);
    await work;
    expect(seen.at(-1)).toMatchObject({ event: 'done', data: { reply: 'No.' } });
  });

  it('with bytes that are not UTF-8 is no answer, after what came before them', async () => {
    const wrong = delta('it.').replace('it', '\xff');
    const text = `${session}${delta('No, ')}${delta('keep ')}`;
    const { seen, work } = await chat(Buffer.from(text + wrong + event('done', {}), 'latin1'));
    expect(await failureOf(work)).toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('not UTF-8'),
    });
    expect(shown(seen)).toBe('No, keep ');
  });

  it('that is longer than any reply is abandoned', async () => {
    const { seen, work } = await chat([session, ...Array(20).fill(delta('x'.repeat(1024 * 1024)))]);
    expect(await failureOf(work)).toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining('16777216 characters'),
    });
    expect(shown(seen)).toHaveLength(16 * 1024 * 1024);
  });
});
