// Shows one reply on the terminal: a waiting line until the reply begins, then the text as it arrives.
import type { ChatEvent } from '../../service/chat-event.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { CliContext } from '../context.ts';
import { type TextFilter, terminalFilter } from '../terminal/filter.ts';
import { waiting } from '../terminal/progress.ts';
import { type MarkdownChoice, replyWriter } from '../terminal/reply-writer.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { startTimer } from '../terminal/timer.ts';

export interface ShownReply {
  take(event: ChatEvent): Promise<void>;
  /** `notes` are further remarks about the reply. */
  end(notes: readonly string[]): Promise<void>;
}

export async function shownReply(markdown: MarkdownChoice, context: CliContext): Promise<ShownReply> {
  const { stdout, stderr, options, signal } = context;
  const writer = await replyWriter(stdout, { markdown, signal });
  const { dim } = await stdout.style();
  const spinner = waiting(() => stderr, 'Waiting for the reply', {
    quiet: options.quiet,
    startTimer,
    now: monotonicMs,
  });
  let begun = false;
  let reasons: TextFilter | null = null;
  const leaveReasons = async () => {
    if (reasons !== null) await stdout.write(terminalText`${dim(reasons.end())}\n\n`);
    reasons = null;
  };
  return {
    async take(event) {
      switch (event.event) {
        case 'session':
          return;
        case 'reasoning':
          spinner.stop();
          reasons ??= terminalFilter();
          return stdout.write(dim(reasons.push(event.data.text)));
        case 'delta':
          spinner.stop();
          await leaveReasons();
          begun = true;
          return writer.write(event.data.text);
        case 'done':
          spinner.stop();
          await leaveReasons();
          // A server that does not stream has sent no chunks.
          if (!begun) await writer.write(event.data.reply);
          begun = true;
      }
    },
    async end(notes) {
      spinner.stop();
      await leaveReasons();
      if (!begun) return;
      await writer.endLine();
      for (const note of notes) await context.say(note);
      await stdout.write('\n');
    },
  };
}
