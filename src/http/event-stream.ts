// Server-sent events as they come (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event without its closing
// blank line is none: a stream that is cut ends early, and its reader sees no last event.
import { createParser } from 'eventsource-parser';
import { HttpFailure } from './http-failure.ts';

export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  mostCharacters: number,
): AsyncGenerator<ServerSentEvent> {
  for await (const events of readEventBatches(bytes, mostCharacters, { closesLast: false })) yield* events;
}

/**
 * The events of each piece of the body together, none when it completes none. `mostCharacters` is the limit of one event.
 * `closesLast`: what stands at the end without its blank line counts as an event all the same.
 */
export async function* readEventBatches(
  bytes: AsyncIterable<Uint8Array>,
  mostCharacters: number,
  { closesLast }: { readonly closesLast: boolean },
): AsyncGenerator<readonly ServerSentEvent[]> {
  let events: ServerSentEvent[] = [];
  let tooLarge = false;
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event: event ?? 'message', data }),
    onError: ({ type }) => {
      tooLarge ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: mostCharacters,
  });
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const complete = events;
    events = [];
    yield complete;
    if (tooLarge) {
      throw new HttpFailure('unreadable', true, `an event is longer than ${mostCharacters} characters`);
    }
  }
  if (!closesLast) return;
  parser.feed(`${decoder.decode()}\n\n`);
  yield events;
}

export function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType ?? '');
}
