// Shows the reply of one turn on the terminal: a waiting line until the reply begins, then the reasoning and the text as they arrive. The
// keyboard can be read in the meantime.
import type { WaitingSign } from '../../service/call.ts';
import type { ChatEvent, ChatReply } from '../../service/chat-event.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { CliContext } from '../context.ts';
import { LiveReply } from '../live-reply.ts';
import { type TextFilter, terminalFilter } from '../terminal/filter.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { terminalText } from '../terminal/terminal-text.ts';

interface ShownReply {
  /** Shows what the call is waiting for. */
  readonly notice: (sign: WaitingSign) => void;
  take(event: ChatEvent): Promise<void>;
  /** Must be called at the end of each turn. `notes` are shown below the reply. */
  end(notes: readonly string[]): Promise<void>;
}

export async function shownReply(markdown: MarkdownChoice, context: CliContext): Promise<ShownReply> {
  const { stdout } = context;
  const live = new LiveReply(markdown, context);
  const { dim } = await stdout.style();
  const { output, writer } = await live.display;
  live.wait();
  let hasBegun = false;
  /** The filter of the reasoning while it is shown. */
  let reasoning: TextFilter | null = null;
  const endReasoning = async () => {
    if (reasoning !== null) await output.write(terminalText`${dim(reasoning.end())}\n\n`);
    reasoning = null;
  };
  return {
    notice: live.notice,
    async take(event) {
      switch (event.event) {
        case 'session':
          return;
        case 'reasoning':
          await live.stop();
          reasoning ??= terminalFilter();
          return output.write(dim(reasoning.push(event.data.text)));
        case 'delta':
          await endReasoning();
          hasBegun = true;
          return (await live.begin()).write(event.data.text);
        case 'done':
          await live.stop();
          await endReasoning();
          // A server that does not stream has sent no chunks.
          if (!hasBegun) await writer.write(event.data.reply);
          hasBegun = true;
      }
    },
    async end(notes) {
      await live.stop();
      await endReasoning();
      if (!hasBegun) return;
      await writer.endLine();
      for (const note of notes) await context.say(note);
      await output.write('\n');
    },
  };
}

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
