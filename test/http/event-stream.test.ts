// The syntax of server-sent events, for any chunks.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isEventStream,
  readEventBatches,
  readEventStream,
  type ServerSentEvent,
  strayLine,
} from '../../src/http/event-stream.ts';
import { HttpFailure } from '../../src/http/http-failure.ts';
import { runs } from '../support/runs.ts';

async function* chunks(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...cuts, 0, bytes.length].filter((cut) => cut <= bytes.length).sort((a, b) => a - b);
  for (const [index, place] of places.slice(1).entries()) yield bytes.subarray(places[index], place);
}

async function read(text: string, cuts: readonly number[] = [], maxLength = 1000) {
  const { events, failure } = await readBytes(new TextEncoder().encode(text), cuts, maxLength);
  if (failure !== null) throw failure;
  return events;
}

async function readBytes(bytes: Uint8Array, cuts: readonly number[] = [], maxLength = 1000) {
  const events: ServerSentEvent[] = [];
  try {
    for await (const event of readEventStream(chunks(bytes, cuts), maxLength)) events.push(event);
    return { events, failure: null };
  } catch (failure) {
    return { events, failure };
  }
}

describe('an event stream', () => {
  it('lets signals and timers run between two chunks', async () => {
    const maxLines = 1000;
    async function* full() {
      for (let count = 0; count < maxLines; count++) yield Buffer.from(':\n\n');
    }
    let isStopped = false;
    setImmediate(() => {
      isStopped = true;
    });
    let count = 0;
    for await (const _events of readEventBatches(full(), 100, { isLenient: false })) {
      if (isStopped) break;
      count += 1;
    }
    expect(count).toBeLessThan(maxLines / 2);
  });

  const ends = ['\n', '\r\n', '\r'];

  it('is the same for any chunks and line ends', async () => {
    const lines = [
      ': hello',
      'event: delta',
      'data: {"text":"é 😀 日本"}',
      '',
      'data: a',
      'data:  b',
      '',
      'id: 7',
      'data: last',
      '',
    ];
    const expected = [
      { event: 'delta', data: '{"text":"é 😀 日本"}' },
      { event: 'message', data: 'a\n b' },
      { event: 'message', data: 'last' },
    ];
    const length = new TextEncoder().encode(lines.join('\r\n')).length + 4;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ends),
        fc.array(fc.nat(length), { maxLength: 30 }),
        async (end, cuts) => {
          expect(await read(lines.map((line) => line + end).join(''), cuts)).toEqual(expected);
        },
      ),
      { numRuns: runs(60, 1_000) },
    );
  });

  it('may be cut after every byte', async () => {
    const text = 'event: delta\r\ndata: 😀\r\n\r\nevent: done\ndata: {}\n\n';
    const every = Array.from({ length: Buffer.byteLength(text) }, (_, index) => index);
    expect(await read(text, every)).toEqual([
      { event: 'delta', data: '😀' },
      { event: 'done', data: '{}' },
    ]);
  });

  it.each(['event: done\ndata: {}', 'event: done\ndata: {}\n', 'event: done\r\ndata: {}\r\n', 'data: x'])(
    'that ends within an event does not tell it: %j',
    async (text) => {
      expect(await read(`data: first\n\n${text}`)).toEqual([{ event: 'message', data: 'first' }]);
    },
  );

  it('ignores a byte order mark, comments, and unknown fields', async () => {
    expect(await read('\ufeffevent: a\nretry: 5\nodd: 1\ndata\n: c\ndata: x\n\n')).toEqual([
      { event: 'a', data: '\nx' },
    ]);
  });

  it('that is read leniently passes on a line that is no field, and counts it to the length of an event', async () => {
    const readLeniently = async (text: string) => {
      const events: ServerSentEvent[] = [];
      const batches = readEventBatches(chunks(Buffer.from(text), [90]), 100, { isLenient: true });
      for await (const batch of batches) events.push(...batch);
      return events;
    };
    expect(await readLeniently('error: {"a":1}\n\n: no\ndata: b')).toEqual([
      { event: strayLine, data: 'error: {"a":1}' },
      { event: 'message', data: 'b', mayBeCut: true },
    ]);
    await expect(readLeniently('{"a":1}\n'.repeat(20))).rejects.toThrow('an event is longer than 100 bytes');
  });

  it('has events of a limited length', async () => {
    const failure = await read(`data: ok\n\ndata: ${'x'.repeat(2000)}`, [10]).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(HttpFailure);
    expect(failure).toMatchObject({ kind: 'unreadable' });
  });

  it('whose lines end in CR yields each event as soon as it is complete', async () => {
    async function* open() {
      yield Buffer.from('data: a\r\r');
      yield Buffer.from('\ndata: b\r');
      yield Buffer.from('\ndata: c\r\n\r');
      throw new Error('later');
    }
    const batches: ServerSentEvent[][] = [];
    const reading = (async () => {
      for await (const events of readEventBatches(open(), 1000, { isLenient: false }))
        batches.push([...events]);
    })();
    await expect(reading).rejects.toThrow('later');
    expect(batches.map((events) => events.map(({ data }) => data))).toEqual([['a'], [], ['b\nc']]);
  });

  it('with bytes that are not UTF-8 is refused there, after all earlier events', async () => {
    const good = Buffer.from('data: é\n\ndata: b\n\n');
    for (const wrong of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0xbd], [0xf0, 0x9f]]) {
      const bytes = Buffer.concat([
        good,
        Buffer.from('data: c'),
        Buffer.from(wrong),
        Buffer.from('\n\ndata: d\n\n'),
      ]);
      for (const cuts of [[], [10], Array.from(bytes.keys())]) {
        const { events, failure } = await readBytes(bytes, cuts);
        expect(events.map(({ data }) => data)).toEqual(['é', 'b']);
        expect(failure).toMatchObject({ kind: 'unreadable', message: 'the stream is not UTF-8' });
      }
    }
  });

  it('has events of a limited number of lines, including empty ones and comments', async () => {
    for (const line of ['data:\n', '\r']) {
      const { events, failure } = await readBytes(Buffer.from(line.repeat(1_000_001)), [], 10_000_000);
      expect(events).toEqual([]);
      expect(failure).toMatchObject({ kind: 'unreadable' });
    }
    const lively = `${': still here\n\n'.repeat(260_000)}data: x\n\n`;
    expect(await read(lively + lively, [], 10_000_000)).toHaveLength(2);
  });

  it('is recognised by its type', () => {
    for (const type of ['text/event-stream', 'text/event-stream; charset=utf-8', 'Text/Event-Stream ;x']) {
      expect(isEventStream(type)).toBe(true);
    }
    for (const type of [null, '', 'application/json', 'text/event-streams', 'text/html']) {
      expect(isEventStream(type)).toBe(false);
    }
  });
});
