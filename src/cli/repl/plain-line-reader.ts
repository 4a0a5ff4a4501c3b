// Reads lines from a terminal without cursor control (TERM=dumb), with the line editing of the system and a plain prompt. Lines that arrive
// at once are a paste: one message and never a command. Text that arrives while no line is read waits at the next prompt for Enter.
import { createInterface, type Interface } from 'node:readline';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import type { Job } from '../job.ts';
import type { Output } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import { edit } from './line-editor.ts';
import type { LineInput } from './line-input.ts';
import type { PromptFor } from './line-layout.ts';
import { drawTo } from './line-painter.ts';
import type { LineSource, ReadLine } from './line-source.ts';
import { emptyLine, insertPaste, insertText, type LineState, lineOf } from './line-state.ts';
import { submittedLine } from './submitted-line.ts';

interface PlainLineReaderOptions {
  readonly open: () => TerminalInput;
  readonly output: Output;
  readonly job: Job;
  /** Shown after Ctrl-C at the prompt. */
  readonly leaveHint: string;
}

/** A terminal that edits lines itself keeps this many bytes of a line and drops the rest without notice. */
const maxLineBytes = 4095;
const cutLine = 'The terminal cuts lines at 4,095 bytes. /file PATH attaches a longer text.';

/** Longer than the terminal takes between two lines of a paste, and too short to be noticed after Enter. */
const pasteMs = 50;
const hangUpMs = 50;

/** The prompt for the next line of a message. */
const continuationPrompt = '  ';

const enter: LineInput = { kind: 'key', key: { name: 'return', ctrl: false, meta: false, sequence: '\r' } };

export class PlainLineReader implements LineSource {
  /** Empty, because any other line replaces the message that Enter alone would send. */
  readonly clearLineHint = '';
  readonly recallHint = '';
  readonly replacesPrompt = false;
  readonly #options: PlainLineReaderOptions;
  #lines: Interface | null = null;
  /** The lines of a burst, and the lines that arrived while no line was read. */
  #burst: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isLent = false;
  #isGone = false;
  #prompt = '';
  /** The text at the prompt: the first lines of a message, or the text that was typed ahead. */
  #state = emptyLine;
  /** The message that returned to the prompt. Enter at an empty prompt sends it. */
  #returnedMessage = '';
  #settle: ((line: ReadLine) => void) | null = null;
  #interrupt: (() => void) | null = null;
  /** The functions that remove the listeners. */
  #release: readonly (() => void)[] = [];

  constructor(options: PlainLineReaderOptions) {
    this.#options = options;
  }

  async read(prompt: PromptFor, initial: string): Promise<ReadLine> {
    this.#listen();
    // The terminal delivers one line in each turn of the event loop. The prompt must come after all lines that were typed.
    for (let before = -1; before !== this.#burst.length; await yieldToEventLoop(), await yieldToEventLoop())
      before = this.#burst.length;
    this.#showTypedAhead(initial);
    this.#prompt = this.#textOf(prompt);
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#draw(this.#prompt);
      if (this.#isGone) this.#finish({ kind: 'left' });
    });
  }

  reprompt(prompt: PromptFor): void {
    this.#prompt = this.#textOf(prompt);
    if (this.#settle !== null && !isBegun(this.#state)) this.#draw(`\n${this.#prompt}`);
  }

  async above(write: () => Promise<void>): Promise<void> {
    const isReading = this.#settle !== null;
    if (isReading) await this.#options.output.write('\n');
    await write();
    if (isReading) await this.#options.output.write(this.#prompt);
  }

  onInterrupt(listener: (() => void) | null): void {
    this.#interrupt = listener;
  }

  /** Stops reading. The next `read` starts it again. */
  async lend<T>(borrow: () => Promise<T>): Promise<T> {
    this.#lines?.pause();
    this.#isLent = true;
    try {
      return await borrow();
    } finally {
      this.#isLent = false;
    }
  }

  close(): void {
    for (const release of this.#release) release();
    this.#lines?.removeAllListeners().close();
  }

  #listen(): void {
    if (this.#isGone) return;
    this.#lines?.resume();
    if (this.#lines !== null) return;
    const { open, job } = this.#options;
    this.#release = [job.onInterrupt(() => this.#interrupted()), job.onContinue(() => this.#continue())];
    const input = open();
    // A terminal that closes reports an end or an error first. The end also comes after the error.
    input.on('error', () => input.destroy());
    this.#lines = createInterface({ input, terminal: false })
      .on('line', (line) => this.#isLent || this.#add(line))
      .on('close', () => this.#end());
  }

  #add(line: string): void {
    this.#burst.push(line);
    if (this.#settle === null) return;
    clearTimeout(this.#timer);
    // After a busy moment the timer may be due before the terminal was read. The event loop reads it before the immediate.
    const timer = setTimeout(() => setImmediate(() => timer === this.#timer && this.#takeBurst()), pasteMs);
    this.#timer = timer;
  }

  /** Ctrl-D and a terminal that closes look the same here. A terminal that closes also sends a signal a moment later. */
  #end(): void {
    this.#isGone = true;
    if (this.#settle !== null) this.#takeBurst();
    setTimeout(() => this.#settle !== null && this.#finish({ kind: 'left' }), hangUpMs);
  }

  /** Puts the returned message at the prompt, followed by the text that was typed in the meantime. */
  #showTypedAhead(initial: string): void {
    const typed = withoutLastNewlines(this.#burst.splice(0).join('\n'));
    this.#returnedMessage = typed === '' ? initial : '';
    this.#state = typed === '' ? emptyLine : insertPaste(withOpenLine(lineOf(initial)), typed);
    if (typed === '' && initial !== '') this.#draw('(Enter alone sends the message.)\n');
    if (typed === '') return;
    if (typed.split('\n').some(isCut)) this.#draw(`${cutLine}\n`);
    const text = this.#options.output.visible(typed);
    this.#draw(`${text}\n(Typed ahead. Enter alone sends it, Ctrl-C discards it.)\n`);
  }

  #takeBurst(): void {
    const lines = this.#burst.splice(0);
    if (lines.length === 0) return;
    this.#state = this.#stateWith(lines);
    if (lines.some(isCut)) {
      this.#draw(`${cutLine} Enter alone sends the cut line, Ctrl-C discards it.\n${this.#prompt}`);
      return;
    }
    const { state, action } = edit(this.#state, enter, []);
    this.#state = state;
    if (action === 'submit') this.#finish({ kind: 'line', line: submittedLine(state) });
    else this.#draw(continuationPrompt);
  }

  #stateWith(lines: readonly string[]): LineState {
    const isEnterAlone = lines.every((line) => line === '') && !isBegun(this.#state);
    if (isEnterAlone) return this.#state.text === '' ? lineOf(this.#returnedMessage) : this.#state;
    const isTyped = lines.length === 1 && !lines.some(isCut);
    return (isTyped ? insertText : insertPaste)(withOpenLine(this.#state), lines.join('\n'));
  }

  #finish(line: ReadLine): void {
    const settle = this.#settle;
    this.#settle = null;
    if (line.kind === 'left') this.#draw('\n');
    settle?.(line);
  }

  #interrupted(): void {
    if (this.#settle === null) {
      this.#interrupt?.();
      return;
    }
    this.#burst = [];
    this.#returnedMessage = '';
    this.#state = emptyLine;
    this.#draw(`\n${this.#options.leaveHint}\n${this.#prompt}`);
  }

  /** Runs after a suspension. The terminal has discarded the unfinished line. */
  #continue(): void {
    if (this.#settle !== null) this.#draw(isBegun(this.#state) ? continuationPrompt : this.#prompt);
  }

  #textOf(prompt: PromptFor): string {
    return prompt(this.#options.output.columns()).text;
  }

  #draw(text: string): void {
    drawTo(this.#options.output, text);
  }
}

/** True if the text ends in a newline, because Enter started another line of the message. */
function isBegun({ text }: LineState): boolean {
  return text.endsWith('\n');
}

/** The state to which another line can be added: text that does not end in a newline gets one. */
function withOpenLine(state: LineState): LineState {
  return state.text === '' || isBegun(state) ? state : insertText(state, '\n');
}

function isCut(line: string): boolean {
  return Buffer.byteLength(line) >= maxLineBytes;
}
