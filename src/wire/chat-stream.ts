// Chat events as server-sent events, the side that writes (https://html.spec.whatwg.org/multipage/server-sent-events.html).
// JSON holds no line breaks, so one `data` line carries a whole body.
import type { ChatEvent } from '../service/chat-event.ts';

/** `done` is the JSON answer, whole; every other event has the envelope around its data. */
export function encodeEvent(event: ChatEvent): string {
  const body = event.event === 'done' ? event.body : { success: true, data: event.data };
  return `event: ${event.event}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** The event that ends a stream in place of `done`. */
export function encodeFailure(body: unknown): string {
  return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
}
