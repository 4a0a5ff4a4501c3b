// The stream of a reply, cut at any byte, in any way: a stream without its end never counts as complete.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend } from '../../src/service/backend.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { encodeEvent } from '../../src/wire/chat-event-encoding.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { runs } from '../support/runs.ts';
import { type ListeningServer, serveBytes } from '../support/scripted-server.ts';

const start = { session_id: 'ses_1', message_id: 'msg_1', mode: 'echo' };
const done = {
  ...start,
  reply: 'Hé 😀!',
  finish_reason: 'stop' as const,
  message_count: 2,
  created_at: '',
  usage: null,
};
const events: readonly ChatEvent[] = [
  { event: 'session', data: start },
  { event: 'delta', data: { text: 'Hé ' } },
  { event: 'delta', data: { text: '😀!' } },
  { event: 'done', data: { ...done, turns_left_out: 0 }, body: { success: true, data: done } },
];
const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';

type Cut = 'FIN' | 'RST' | 'stall';

interface Sample {
  readonly ends: string;
  readonly cut: Cut;
  readonly bytes: number;
}

const streams = new Map(
  [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ].map(([name = '', end = '']) => [
    name,
    Buffer.from(events.map(encodeEvent).join('').replaceAll('\n', end)),
  ]),
);

/** Cuts that are spread evenly over the bytes, for each way to cut and each line end. In one of them only the last byte is missing. */
const samples: readonly Sample[] = [...streams].flatMap(([ends, { length }]) =>
  (['FIN', 'RST', 'stall'] as const).flatMap((cut) =>
    cutsOf(wholeAt(ends, length)).map((bytes) => ({ ends, cut, bytes })),
  ),
);

/** A CR ends a line by itself, whether an LF follows or not. */
function wholeAt(ends: string, length: number): number {
  return ends === 'CRLF' ? length - 1 : length;
}

function cutsOf(length: number): readonly number[] {
  const count = Math.min(length, runs(50, length));
  return Array.from({ length: count }, (_, index) => Math.floor((index * (length - 1)) / (count - 1)));
}

describe('a cut stream', () => {
  let server: ListeningServer;
  let backend: Backend;
  let impatient: Backend;

  beforeAll(async () => {
    server = await serveBytes((socket, _count, request) => {
      const { ends, cut, bytes } = JSON.parse(JSON.parse(request.slice(request.indexOf('{'))).message);
      socket.write(head);
      socket.write((streams.get(ends) ?? Buffer.alloc(0)).subarray(0, bytes), () => {
        if (cut === 'FIN') socket.end();
        // Later, so that what was sent arrives: a reset takes back what the other side has not read.
        if (cut === 'RST') setTimeout(() => socket.resetAndDestroy(), 5);
      });
    });
    backend = (await openRemote(server.url, { timeout: 20 })).backend;
    // Longer than a busy machine takes to bring what was sent.
    impatient = (await openRemote(server.url, { timeout: 0.5 })).backend;
  });
  afterAll(async () => {
    await backend.close();
    await impatient.close();
    await server.close();
  });

  async function chat(sample: Sample): Promise<readonly ChatEvent[]> {
    const seen: ChatEvent[] = [];
    const request = { mode: 'echo', message: JSON.stringify(sample), session_id: null };
    const work = async () => {
      const { service } = sample.cut === 'stall' ? impatient : backend;
      for await (const event of service.chat(callWith('k'), request, 'chunks')) seen.push(event);
    };
    const failure = await failureOf(work());
    expect(failure.code).toBe(sample.cut === 'stall' ? 'TIMEOUT' : 'INCOMPLETE_REPLY');
    const begun = seen.some(({ event }) => event === 'session');
    expect([failure.session_id, failure.message_id]).toEqual(begun ? ['ses_1', 'msg_1'] : [null, null]);
    return seen;
  }

  it.each(['FIN', 'RST', 'stall'] as const)('by %s never counts as complete', async (cut) => {
    const chosen = samples.filter((sample) => sample.cut === cut);
    const counts: number[] = [];
    // Many at a time: each stall takes its time.
    for (let first = 0; first < chosen.length; first += 50) {
      for (const seen of await Promise.all(chosen.slice(first, first + 50).map(chat))) {
        expect(seen.map(({ event }) => event)).not.toContain('done');
        expect(seen).toEqual(events.slice(0, seen.length));
        counts.push(seen.length);
      }
    }
    expect(counts).toHaveLength(chosen.length);
    expect(chosen.length).toBeGreaterThanOrEqual(100);
    expect(new Set(counts)).toEqual(new Set([0, 1, 2, 3]));
  });

  it.each([...streams])('that is not cut, with %s, is whole', async (ends, { length }) => {
    const message = JSON.stringify({ ends, cut: 'FIN', bytes: length });
    const seen: ChatEvent[] = [];
    for await (const event of backend.service.chat(
      callWith('k'),
      { mode: 'echo', message, session_id: null },
      'chunks',
    )) {
      seen.push(event);
    }
    expect(seen).toEqual(events);
  });
});
