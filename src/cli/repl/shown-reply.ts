// Shows one reply on the terminal: a waiting line until the reply begins, then the text as it arrives.
import type { WaitingSign } from '../../service/call.ts';
import type { ChatEvent } from '../../service/chat-event.ts';
import type { CliContext } from '../context.ts';
import { LiveReply } from '../live-reply.ts';
import { type TextFilter, terminalFilter } from '../terminal/filter.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { terminalText } from '../terminal/terminal-text.ts';

export interface ShownReply {
  /** Takes what the call waits for. */
  readonly notice: (sign: WaitingSign) => void;
  take(event: ChatEvent): Promise<void>;
  /** `notes` are further remarks about the reply. */
  end(notes: readonly string[]): Promise<void>;
}

export async function shownReply(markdown: MarkdownChoice, context: CliContext): Promise<ShownReply> {
  const { stdout } = context;
  const live = new LiveReply(markdown, context);
  const { dim } = await stdout.style();
  const { output, writer } = await live.display;
  live.wait();
  let begun = false;
  let reasons: TextFilter | null = null;
  const leaveReasons = async () => {
    if (reasons !== null) await output.write(terminalText`${dim(reasons.end())}\n\n`);
    reasons = null;
  };
  return {
    notice: live.notice,
    async take(event) {
      switch (event.event) {
        case 'session':
          return;
        case 'reasoning':
          await live.stop();
          reasons ??= terminalFilter();
          return output.write(dim(reasons.push(event.data.text)));
        case 'delta':
          await leaveReasons();
          begun = true;
          return (await live.begin()).write(event.data.text);
        case 'done':
          await live.stop();
          await leaveReasons();
          // A server that does not stream has sent no chunks.
          if (!begun) await writer.write(event.data.reply);
          begun = true;
      }
    },
    async end(notes) {
      await live.stop();
      await leaveReasons();
      if (!begun) return;
      await writer.endLine();
      for (const note of notes) await context.say(note);
      await output.write('\n');
    },
  };
}
