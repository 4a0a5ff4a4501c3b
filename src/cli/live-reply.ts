// The signs of life of one reply at a terminal: a waiting line until the reply begins, and a live text behind it whenever it stands still.
import type { WaitingSign } from '../service/call.ts';
import { monotonicMs } from '../system/monotonic-clock.ts';
import type { CliContext } from './context.ts';
import type { LiveText, LiveTextOptions } from './terminal/live-text.ts';
import type { Output, UntrustedWriter } from './terminal/output.ts';
import { type Waiting, waiting } from './terminal/progress.ts';
import { type MarkdownChoice, replyWriter } from './terminal/reply-writer.ts';
import { startTimer } from './terminal/timer.ts';

interface ReplyPlace {
  /** What goes with the reply is written here, too. */
  readonly output: Output;
  readonly writer: UntrustedWriter;
  readonly live: LiveText | null;
}

export class LiveReply {
  /** Loads while the reply is awaited. Its first use reports a failure. */
  readonly place: Promise<ReplyPlace>;
  readonly #context: CliContext;
  #waiting: Waiting = { say() {}, stop() {} };
  #sign = 'Waiting';

  constructor(markdown: MarkdownChoice, context: CliContext) {
    this.#context = context;
    this.place = openPlace(markdown, timingOf(context), context);
    this.place.catch(() => {});
  }

  /** The request is sent. */
  wait(): void {
    this.#waiting = waiting(() => this.#context.stderr, 'Waiting for the reply', timingOf(this.#context));
  }

  /** Takes what the call waits for. */
  readonly notice = (sign: WaitingSign): void => {
    if (sign.kind === 'indexing') return;
    this.#sign = sign.kind === 'thinking' ? 'Thinking' : `Waiting ${sign.seconds} s, as the server asks:`;
    this.#waiting.say(this.#sign);
  };

  /** A part of the reply has come, and is written next. Some of it may be held back. */
  async begin(): Promise<UntrustedWriter> {
    this.#waiting.stop();
    this.#sign = 'Waiting';
    const { writer, live } = await this.place;
    live?.begin((seconds) => writer.heldBack?.() ?? `${this.#sign} ${seconds} s`);
    return writer;
  }

  /** Takes every sign away, so that something else can be written to the terminal. A later `begin` goes on. */
  async stop(): Promise<void> {
    this.#waiting.stop();
    const { live } = await this.place;
    await live?.stop();
  }
}

function timingOf({ options }: CliContext): LiveTextOptions {
  return { quiet: options.quiet, startTimer, now: monotonicMs };
}

async function openPlace(
  markdown: MarkdownChoice,
  timing: LiveTextOptions,
  { stdout, signal }: CliContext,
): Promise<ReplyPlace> {
  const live = stdout.redraws && !timing.quiet ? await openLive(stdout, timing) : null;
  const output = live ?? stdout;
  return { output, live, writer: await replyWriter(output, { markdown, signal }) };
}

async function openLive(stdout: Output, timing: LiveTextOptions): Promise<LiveText> {
  const [{ LiveText }, { textWidth }] = await Promise.all([
    import('./terminal/live-text.ts'),
    import('./terminal/markdown/text-width.ts'),
  ]);
  return new LiveText(stdout, textWidth, timing);
}
