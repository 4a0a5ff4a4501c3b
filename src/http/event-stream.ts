// Server-sent events as they come (https://html.spec.whatwg.org/multipage/server-sent-events.html). An event without its closing
// blank line is none: a stream that is cut ends early, and its reader sees no last event.
import { createParser } from 'eventsource-parser';
import { HttpFailure } from './http-failure.ts';

export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** `mostCharacters` is the limit of one event. */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  mostCharacters: number,
): AsyncGenerator<ServerSentEvent> {
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
    yield* complete;
    if (tooLarge) {
      throw new HttpFailure('unreadable', true, `an event is longer than ${mostCharacters} characters`);
    }
  }
}

export function isEventStream(contentType: string | null): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(contentType ?? '');
}
