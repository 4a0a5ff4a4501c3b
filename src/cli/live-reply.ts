// The progress display of one reply at a terminal: a waiting line until the reply begins, and a live text after it whenever it pauses.
import type { WaitingSign } from '../service/call.ts';
import type { CliContext } from './context.ts';
import type { LiveText } from './terminal/live-text.ts';
import type { Output, UntrustedWriter } from './terminal/output.ts';
import { showWaiting, type Waiting } from './terminal/progress.ts';
import { type MarkdownChoice, replyWriter } from './terminal/reply-writer.ts';

interface ReplyDisplay {
  readonly output: Output;
  readonly writer: UntrustedWriter;
  readonly live: LiveText | null;
}

export class LiveReply {
  /** Loads while the reply is awaited. The first use reports a failure to load. */
  readonly display: Promise<ReplyDisplay>;
  readonly #context: CliContext;
  #waiting: Waiting = { say() {}, stop() {} };
  #sign = 'Waiting';

  constructor(markdown: MarkdownChoice, context: CliContext) {
    this.#context = context;
    this.display = openDisplay(markdown, context);
    this.display.catch(() => {});
  }

  /** Shows the waiting line. Call it when the request is sent. */
  wait(): void {
    this.#waiting = showWaiting('Waiting for the reply', this.#context);
  }

  /** Shows what the call is waiting for. */
  readonly notice = (sign: WaitingSign): void => {
    if (sign.kind === 'indexing' || sign.kind === 'busy') return;
    this.#sign = sign.kind === 'thinking' ? 'Thinking' : `Waiting ${sign.seconds} s at the server’s request:`;
    this.#waiting.say(this.#sign);
  };

  /** Call it before a part of the reply is written. The writer may hold some of it back. */
  async begin(): Promise<UntrustedWriter> {
    this.#waiting.stop();
    this.#sign = 'Waiting';
    const { writer, live } = await this.display;
    live?.begin((seconds) => writer.describeHeldText?.() ?? `${this.#sign} ${seconds} s`);
    return writer;
  }

  /** Clears the display, so that something else can be written to the terminal. A later `begin` continues. */
  async stop(): Promise<void> {
    this.#waiting.stop();
    const { live } = await this.display;
    await live?.stop();
  }
}

async function openDisplay(
  markdown: MarkdownChoice,
  { stdout, signal, options }: CliContext,
): Promise<ReplyDisplay> {
  const live = stdout.redraws && !options.quiet ? await openLive(stdout) : null;
  const output = live ?? stdout;
  return { output, live, writer: await replyWriter(output, { markdown, signal }) };
}

async function openLive(stdout: Output): Promise<LiveText> {
  const [{ LiveText }, { textWidth }] = await Promise.all([
    import('./terminal/live-text.ts'),
    import('./terminal/text-width.ts'),
  ]);
  return new LiveText(stdout, textWidth);
}
