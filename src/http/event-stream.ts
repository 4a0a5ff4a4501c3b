// Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event without its closing blank line does
// not count, so the last, incomplete event of a stream that breaks off is dropped.
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { HttpFailure } from './http-failure.ts';

export interface ServerSentEvent {
  /** `message` if the stream names no event. */
  readonly event: string;
  readonly data: string;
  /** True for a last event without its blank line, which the end of the stream may have cut. */
  readonly mayBeCut?: true;
}

/** The name of the event that holds a line which is no field of an event. */
export const strayLine = 'stray line';

/** Yields the events one by one. `maxBytes` limits one event, including the comments before it. */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ServerSentEvent> {
  for await (const events of readEventBatches(bytes, maxBytes, { isLenient: false })) yield* events;
}

/**
 * Yields the events that each chunk of the body completes, together; an empty list when it completes none. `maxBytes` limits one event,
 * including the comments before it. With `isLenient`, a last event without its blank line counts too, and a line that is no field of an
 * event is passed on as an event {@link strayLine}. Bytes that are not UTF-8 end the stream with an `unreadable` failure, after the events
 * before them.
 */
export async function* readEventBatches(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  { isLenient }: { readonly isLenient: boolean },
): AsyncGenerator<readonly ServerSentEvent[]> {
  const reader = new EventReader(maxBytes, isLenient);
  for await (const chunk of bytes) {
    yield reader.take(chunk);
    reader.throwFailure();
    // Node reads a busy connection repeatedly before it handles signals and timers.
    await yieldToEventLoop();
  }
  if (!isLenient) return;
  yield reader.take(Buffer.from('\n\n')).map((event) => ({ ...event, mayBeCut: true }));
  reader.throwFailure();
}

const lineFeed = 10;
const carriageReturn = 13;
/** The most lines of one event, including the comments before it. Even an empty line takes memory. */
const maxLines = 1_000_000;

/**
 * Reads chunks of bytes. eventsource-parser gets whole lines that end in LF, because it stores a line that arrives byte by byte in as many
 * parts, and waits forever after a CR at the end.
 */
class EventReader {
  readonly #maxBytes: number;
  readonly #parser: EventSourceParser;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The beginning of a line whose end has not arrived. */
  readonly #line = new ChunkQueue();
  #events: ServerSentEvent[] = [];
  #byteLength = 0;
  #lines = 0;
  #isAtStart = true;
  #endsInReturn = false;
  #failure: HttpFailure | null = null;

  constructor(maxBytes: number, keepsStrayLines: boolean) {
    this.#maxBytes = maxBytes;
    this.#parser = createParser({
      onEvent: ({ event, data }) => this.#events.push({ event: event ?? 'message', data }),
      onError: ({ type, line = '' }) => {
        if (keepsStrayLines && type === 'unknown-field') this.#events.push({ event: strayLine, data: line });
      },
    });
  }

  take(chunk: Uint8Array): readonly ServerSentEvent[] {
    const end = Math.max(chunk.lastIndexOf(lineFeed), chunk.lastIndexOf(carriageReturn)) + 1;
    this.#byteLength += chunk.byteLength;
    if (end > 0) {
      this.#line.push(chunk.subarray(0, end));
      this.#takeLines(this.#line.takeAll());
    }
    if (end < chunk.byteLength) this.#line.push(chunk.subarray(end));
    const events = this.#events;
    this.#events = [];
    if (events.some(({ event }) => event !== strayLine)) {
      this.#byteLength = this.#line.byteLength;
      this.#lines = 0;
    }
    if (this.#byteLength > this.#maxBytes) this.#fail(`an event is longer than ${this.#maxBytes} bytes`);
    if (this.#lines > maxLines) this.#fail(`an event has more than ${maxLines} lines`);
    return events;
  }

  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #takeLines(bytes: Uint8Array): void {
    let text = this.#decode(bytes);
    if (this.#isAtStart && text.startsWith('\ufeff')) text = text.slice(1);
    this.#isAtStart = false;
    if (this.#endsInReturn && text.startsWith('\n')) text = text.slice(1);
    this.#endsInReturn = text.endsWith('\r');
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.#lines += countOf(lines, '\n');
    this.#parser.feed(lines);
  }

  /** Decodes the bytes up to the first byte that is not UTF-8. */
  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      this.#fail('the stream is not UTF-8');
      return Buffer.from(bytes).toString().split('\ufffd', 1)[0] ?? '';
    }
  }

  #fail(problem: string): void {
    this.#failure ??= new HttpFailure('unreadable', problem);
  }
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}

/** True for the value of a header `Content-Type` of server-sent events, with or without parameters. */
export function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType ?? '');
}
