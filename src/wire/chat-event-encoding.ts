// Encodes chat events as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). JSON contains no line breaks,
// so one `data` line carries a whole body.
import type { ChatEvent } from '../service/chat-event.ts';

/** The body of `done` is the whole JSON response. The body of every other event is the envelope around its data. */
export function encodeEvent(event: ChatEvent): string {
  const body = event.event === 'done' ? event.body : { success: true, data: event.data };
  return `event: ${event.event}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** Tells the client that the model is reasoning. A client that does not know the event ignores it. */
export const thinkingEvent = 'event: thinking\ndata: {"success":true,"data":{}}\n\n';

/** The event that ends a stream instead of `done`. */
export function encodeFailure(body: unknown): string {
  return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
}
