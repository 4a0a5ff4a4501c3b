// Shows the events of one turn as they arrive, and lets the keyboard be read in the meantime.
import type { ChatEvent, ChatReply } from '../../service/chat-event.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { ShownReply } from './shown-reply.ts';

/** A reply lets the keyboard be read at least this often. */
const maxMsAtOnce = 10;

/** `onEvent` receives each event before it is shown. Returns the complete reply. Null if the events end before it. */
export async function streamTurn(
  events: AsyncIterable<ChatEvent>,
  shown: ShownReply,
  onEvent: (event: ChatEvent) => void,
): Promise<ChatReply | null> {
  let complete: ChatReply | null = null;
  let yieldedAt = monotonicMs();
  for await (const event of events) {
    onEvent(event);
    if (event.event === 'done') complete = event.data;
    await shown.take(event);
    // An engine that never waits would keep the keyboard from being read.
    if (monotonicMs() - yieldedAt > maxMsAtOnce) {
      await yieldToEventLoop();
      yieldedAt = monotonicMs();
    }
  }
  return complete;
}
