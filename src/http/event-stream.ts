// Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event without its closing blank line does
// not count, so the reader of a stream that breaks off does not see its last event.
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { HttpFailure } from './http-failure.ts';

export interface ServerSentEvent {
  /** `message` if the stream names no event. */
  readonly event: string;
  readonly data: string;
}

/** The events one by one. `mostBytes` limits one event, with the comments before it. */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<ServerSentEvent> {
  for await (const events of readEventBatches(bytes, mostBytes, { closesLast: false })) yield* events;
}

/**
 * The events that each chunk of the body completes, together; an empty list when it completes none. `mostBytes` limits one event, with the
 * comments before it. With `closesLast`, an event at the end without its blank line counts, too. Bytes that are not UTF-8 end the stream
 * with an `unreadable` failure, after the events before them.
 */
export async function* readEventBatches(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
  { closesLast }: { readonly closesLast: boolean },
): AsyncGenerator<readonly ServerSentEvent[]> {
  const reading = new EventReading(mostBytes);
  for await (const chunk of bytes) {
    yield reading.take(chunk);
    reading.throwFailure();
    // Node reads a full connection again and again before it looks at signals and timers.
    await yieldToEventLoop();
  }
  if (!closesLast) return;
  yield reading.take(Buffer.from('\n\n'));
  reading.throwFailure();
}

const lineFeed = 10;
const carriageReturn = 13;
/** The most lines of one event, with the comments before it. Each line takes memory of its own, even an empty one. */
const mostLines = 1_000_000;

/**
 * Reads chunks of bytes. eventsource-parser gets whole lines that end in LF: it would keep a line that arrives byte by byte in as many
 * parts, and would wait for ever after a CR at the end.
 */
class EventReading {
  readonly #mostBytes: number;
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

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#parser = createParser({
      onEvent: ({ event, data }) => this.#events.push({ event: event ?? 'message', data }),
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
    if (events.length > 0) this.#restart();
    if (this.#byteLength > this.#mostBytes) this.#fail(`an event is longer than ${this.#mostBytes} bytes`);
    if (this.#lines > mostLines) this.#fail(`an event has more than ${mostLines} lines`);
    return events;
  }

  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #takeLines(bytes: Uint8Array): void {
    let text = this.#decoded(bytes);
    if (this.#isAtStart && text.startsWith('\ufeff')) text = text.slice(1);
    this.#isAtStart = false;
    if (this.#endsInReturn && text.startsWith('\n')) text = text.slice(1);
    this.#endsInReturn = text.endsWith('\r');
    const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.#lines += countOf(lines, '\n');
    this.#parser.feed(lines);
  }

  /** The text of the bytes. Of bytes that are not UTF-8 it is the text before the first wrong byte. */
  #decoded(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      this.#fail('the stream is not UTF-8');
      return Buffer.from(bytes).toString().split('\ufffd', 1)[0] ?? '';
    }
  }

  #restart(): void {
    this.#byteLength = this.#line.byteLength;
    this.#lines = 0;
  }

  #fail(problem: string): void {
    this.#failure ??= new HttpFailure('unreadable', true, problem);
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
