// Lines from a terminal that can move no cursor (TERM=dumb): the system's own line editing, and a plain prompt. Lines that come at once
// are a paste: one message, and no command. What comes while nobody reads is not sent by itself: it stands at the next prompt.
import { createInterface, type Interface } from 'node:readline';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import type { Job } from '../job.ts';
import type { Output } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import { LineBurst } from './line-burst.ts';
import { edit } from './line-editor.ts';
import type { LineInput } from './line-input.ts';
import type { PromptFor } from './line-layout.ts';
import { drawTo } from './line-painter.ts';
import type { LineSource, ReadLine } from './line-source.ts';
import { lineOf } from './line-state.ts';
import { type SubmittedLine, submitted } from './submitted-line.ts';
import { lineFor } from './typed-line.ts';

export interface PlainLineReaderOptions {
  readonly open: () => TerminalInput;
  readonly output: Output;
  readonly job: Job;
  /** Ctrl-C at the prompt. */
  readonly leaveHint: string;
}

/** A terminal that edits lines itself keeps so many bytes of one, and drops the others without a word. */
const mostLineBytes = 4095;
const cutLine = 'A line of 4,095 bytes: the terminal drops what is beyond. /file PATH takes a text whole.';

const hangUpMs = 50;

/** Before a further line of a message. */
const furtherLine = '  ';

const enter: LineInput = { kind: 'key', key: { name: 'return', ctrl: false, meta: false, sequence: '\r' } };

export class PlainLineReader implements LineSource {
  /** Another line takes the place of what Enter alone would send. */
  readonly makeRoom = '';
  readonly #options: PlainLineReaderOptions;
  #interface: Interface | null = null;
  readonly #burst = new LineBurst((lines) => this.#taken(lines));
  /** Those that came while nobody read one. */
  readonly #ahead: string[] = [];
  #heedsErrors = false;
  #isGone = false;
  #isLent = false;
  #prompt = '';
  #begun = '';
  #initial = '';
  #isInitialAhead = false;
  #settle: ((line: ReadLine) => void) | null = null;
  #interrupt: (() => void) | null = null;
  /** What lets go of the terminal's events; null until the first line is read. */
  #release: (() => void)[] | null = null;

  constructor(options: PlainLineReaderOptions) {
    this.#options = options;
  }

  async read(prompt: PromptFor, initial: string): Promise<ReadLine> {
    this.#release ??= this.#heed();
    this.#listen();
    await this.#allAhead();
    this.#prompt = this.#textOf(prompt);
    this.#takeAhead(initial);
    return new Promise((resolve) => {
      this.#settle = resolve;
      drawTo(this.#options.output, this.#prompt);
      if (this.#isGone) this.#finish({ kind: 'left' });
    });
  }

  reprompt(prompt: PromptFor): void {
    this.#prompt = this.#textOf(prompt);
    if (this.#settle !== null && this.#begun === '') drawTo(this.#options.output, `\n${this.#prompt}`);
  }

  async above(write: () => Promise<void>): Promise<void> {
    const reads = this.#settle !== null;
    if (reads) await this.#options.output.write('\n');
    await write();
    if (reads) await this.#options.output.write(this.#prompt);
  }

  onInterrupt(listener: (() => void) | null): void {
    this.#interrupt = listener;
  }

  async lend<T>(borrow: () => Promise<T>): Promise<T> {
    this.#isLent = true;
    this.#interface?.close();
    this.#interface = null;
    try {
      return await borrow();
    } finally {
      this.#isLent = false;
    }
  }

  close(): void {
    this.#settle = null;
    for (const release of this.#release ?? []) release();
    this.#isLent = true;
    this.#interface?.close();
    this.#interface = null;
  }

  #heed(): (() => void)[] {
    const { job } = this.#options;
    return [job.onInterrupt(() => this.#interrupted()), job.onContinue(() => this.#continue())];
  }

  #textOf(prompt: PromptFor): string {
    return prompt(this.#options.output.columns()).text;
  }

  #listen(): void {
    if (this.#interface !== null || this.#isGone) return;
    const input = this.#options.open();
    // Of a terminal that closes, the end or an error tells first; after the error comes the end, too.
    if (!this.#heedsErrors) input.on('error', () => input.destroy());
    this.#heedsErrors = true;
    const lines = createInterface({ input, terminal: false });
    lines.on('line', (line) => {
      if (this.#settle === null) this.#ahead.push(line);
      else this.#burst.add(line);
    });
    lines.on('close', () => {
      if (this.#isLent) return;
      this.#isGone = true;
      this.#burst.end();
      // Ctrl-D and a terminal that closes look the same; of the latter a signal tells, a moment later.
      setTimeout(() => this.#settle !== null && this.#finish({ kind: 'left' }), hangUpMs);
    });
    this.#interface = lines;
  }

  /** The terminal gives a line each turn of the loop: before the prompt stands, all that were typed have come. */
  async #allAhead(): Promise<void> {
    for (let before = -1; before !== this.#ahead.length; ) {
      before = this.#ahead.length;
      await yieldToEventLoop();
      await yieldToEventLoop();
    }
  }

  /** What stands at the prompt: a message that came back, and what was typed since. */
  #takeAhead(initial: string): void {
    const ahead = withoutLastNewlines(this.#ahead.splice(0).join('\n'));
    this.#isInitialAhead = ahead !== '';
    this.#initial = ahead === '' ? initial : joined(initial, [ahead]);
    const { output } = this.#options;
    if (ahead !== '') {
      if (ahead.split('\n').some(isCut)) drawTo(output, `${cutLine}\n`);
      drawTo(output, `${output.visible(ahead)}\n(Typed ahead: Enter alone sends it, Ctrl-C drops it.)\n`);
    } else if (initial !== '') drawTo(output, '(Enter alone takes it again.)\n');
  }

  #taken(lines: readonly string[]): void {
    if (lines.some(isCut)) {
      const text = [this.#begun + lines.join('\n')];
      this.#initial = joined(this.#isInitialAhead ? this.#initial : '', text);
      this.#isInitialAhead = true;
      this.#begun = '';
      drawTo(this.#options.output, `${cutLine} Enter alone sends it so, Ctrl-C drops it.\n${this.#prompt}`);
      return;
    }
    const isEnterAlone = lines.every((line) => line === '') && this.#begun === '';
    if (isEnterAlone || (lines.length === 1 && !this.#isInitialAhead)) {
      this.#typed(isEnterAlone && this.#initial !== '' ? this.#initial : (lines[0] ?? ''), isEnterAlone);
    } else if (this.#begun === '') {
      const typed = joined(this.#isInitialAhead ? this.#initial : '', lines);
      this.#submit({ ...submitted(lineOf(typed)), mayBeCommand: false });
    } else {
      for (const [index, line] of lines.entries()) {
        if (this.#settle === null) {
          this.#ahead.push(...lines.slice(index));
          return;
        }
        this.#typed(line, false);
      }
    }
  }

  #typed(line: string, isAgain: boolean): void {
    const { state, action } = edit(lineOf(this.#begun + line), enter, []);
    if (action === 'submit') {
      const line = submitted(state);
      const isTyped = !(isAgain && this.#isInitialAhead);
      this.#submit({ ...line, mayBeCommand: line.mayBeCommand && isTyped });
    } else {
      this.#begun = state.text;
      drawTo(this.#options.output, furtherLine);
    }
  }

  #submit(line: SubmittedLine): void {
    this.#finish({ kind: 'line', line });
  }

  #finish(line: ReadLine): void {
    const settle = this.#settle;
    this.#settle = null;
    this.#begun = '';
    if (line.kind === 'left') drawTo(this.#options.output, '\n');
    settle?.(line);
  }

  #interrupted(): void {
    if (this.#settle === null) {
      this.#interrupt?.();
      return;
    }
    this.#burst.drop();
    this.#begun = '';
    this.#initial = '';
    this.#isInitialAhead = false;
    drawTo(this.#options.output, `\n${this.#options.leaveHint}\n${this.#prompt}`);
  }

  /** After a stop. What stood in the line was dropped by the terminal. */
  #continue(): void {
    if (this.#settle !== null) drawTo(this.#options.output, this.#begun === '' ? this.#prompt : furtherLine);
  }
}

/** The line that says a message, and below it lines that are text. */
function joined(initial: string, lines: readonly string[]): string {
  const before = initial === '' ? [] : [submitted(lineOf(initial)).text];
  return lineFor([...before, ...lines].join('\n'));
}

function isCut(line: string): boolean {
  return Buffer.byteLength(line) >= mostLineBytes;
}
