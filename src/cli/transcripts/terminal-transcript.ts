// Shows the messages of a session at a terminal: a dimmed heading with the role and the time, then the text. Replies are Markdown; the user's
// messages are shown as they were typed.
import { isCut, type Message } from '../../service/session.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { shownTime } from '../shown-time.ts';
import { oneLine } from '../terminal/filter.ts';
import type { Output } from '../terminal/output.ts';
import { type MarkdownChoice, replyWriter } from '../terminal/reply-writer.ts';
import { terminalText } from '../terminal/terminal-text.ts';

export interface TranscriptOptions {
  readonly markdown: MarkdownChoice;
  readonly utc: boolean;
  readonly now: number;
  readonly signal: AbortSignal;
}

export class TerminalTranscript {
  readonly #output: Output;
  readonly #options: TranscriptOptions;
  #isFirst = true;

  constructor(output: Output, options: TranscriptOptions) {
    this.#output = output;
    this.#options = options;
  }

  async show(message: Message): Promise<void> {
    const output = this.#output;
    const { markdown, signal } = this.#options;
    const { dim } = await output.style();
    await output.write(terminalText`${this.#isFirst ? '' : '\n'}${dim(this.#heading(message))}\n`);
    this.#isFirst = false;
    const text = withoutLastNewlines(message.content);
    if (message.role === 'user') return output.write(`${text}\n`);
    if (text === '') return;
    const writer = await replyWriter(output, { markdown, signal });
    await writer.write(text);
    await writer.endLine();
  }

  #heading({
    role,
    mode,
    created_at,
    finish_reason,
    undone_at,
    alternative_of,
    ...message
  }: Message): string {
    const { now, utc } = this.#options;
    const facts = [
      role === 'user' ? 'You' : mode,
      shownTime(created_at, now, { utc }),
      ...(undone_at === undefined ? [] : [`undone ${shownTime(undone_at, now, { utc })}`]),
      ...(alternative_of === undefined ? [] : ['alternative']),
      ...(isCut({ finish_reason }) ? [`cut: ${finish_reason}`] : []),
      ...(message.error_code === undefined ? [] : [message.error_code]),
    ];
    return oneLine(facts.join(' · '));
  }
}
