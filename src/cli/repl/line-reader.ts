// Reads lines from a terminal: keyboard → editor → painter. Keys that arrive while no line is read are kept for the next prompt. Only
// Ctrl-C and Ctrl-Z act at once.
import { withoutLastNewlines } from '../end-of-text.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { startTimer } from '../terminal/timer.ts';
import { Keyboard } from './keyboard.ts';
import { LineCompletion } from './line-completion.ts';
import { edit } from './line-editor.ts';
import { type Action, interruptKey, isInterrupt, type LineInput } from './line-input.ts';
import type { Prompt, PromptFor, ShownLine } from './line-layout.ts';
import { drawTo, LinePainter } from './line-painter.ts';
import type { LineReaderOptions } from './line-reader-options.ts';
import type { LineSource, ReadLine } from './line-source.ts';
import { emptyLine, initialLine, type LineState, lineOf, replaceText, typedAhead } from './line-state.ts';
import { RedrawSchedule } from './redraw-schedule.ts';
import { shownLine, shownPrompt } from './shown-line.ts';
import { editableText, submittedLine } from './submitted-line.ts';
import { TextWidths } from './text-widths.ts';
import { lineFor } from './typed-line.ts';
import { WaitingKeys } from './waiting-keys.ts';

const bell = terminalText`\x07`;

/** The library is loaded after this time (ms), so that it does not delay the first keys. */
const widthsPauseMs = 100;

export class LineReader implements LineSource {
  readonly replacesPrompt = true;
  readonly clearLineHint = 'Press Ctrl-C to clear the line first.';
  readonly recallHint = 'Up brings the message back';
  readonly #options: LineReaderOptions;
  readonly #keyboard: Keyboard;
  readonly #painter: LinePainter;
  readonly #widths = new TextWidths(() => {
    this.#painter.remeasure();
    this.#redraws.request();
  });
  readonly #redraws = new RedrawSchedule(() => this.#redraw());
  /** True if the bell rang since the last drawing. */
  #hasRung = false;
  #isResized = false;
  /** The functions that remove the listeners. Null until the first line is read. */
  #release: (() => void)[] | null = null;
  #state: LineState = emptyLine;
  #promptFor: PromptFor = () => ({ text: '', styled: '' });
  #settle: ((line: ReadLine) => void) | null = null;
  #interrupt: (() => void) | null = null;
  #isLent = false;
  #isGone = false;
  #isSuspended = false;
  /** True while text is written above the line. */
  #isAbove = false;
  /** A running completion or an open editor. Keys wait for its end. */
  #busy: Promise<void> | null = null;
  readonly #waiting = new WaitingKeys();
  readonly #completion: LineCompletion;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    const { output, reflows } = options;
    this.#completion = new LineCompletion(options.complete);
    this.#painter = new LinePainter({ output, reflows, measure: this.#widths.measure });
    this.#keyboard = new Keyboard({
      open: options.open,
      stream: options.output.stream,
      onInput: (input) => this.#handle(input),
      onEnd: () => this.#end(),
      atExit: (action) => options.job.atExit(action),
    });
  }

  read(prompt: PromptFor, initial: string): Promise<ReadLine> {
    if (this.#isGone) return Promise.resolve({ kind: 'gone' });
    const typed = typedAhead(this.#state);
    this.#state = initial === '' ? typed : initialLine(initial, typed);
    this.#promptFor = prompt;
    this.#release ??= this.#listen();
    this.#keyboard.take();
    const line = new Promise<ReadLine>((resolve) => {
      this.#settle = resolve;
    });
    this.#redraws.now();
    startTimer(widthsPauseMs, () => this.#widths.load());
    return line;
  }

  reprompt(prompt: PromptFor): void {
    this.#promptFor = prompt;
    this.#redraws.request();
  }

  async above(write: () => Promise<void>): Promise<void> {
    if (this.#settle === null) return write();
    this.#painter.erase();
    this.#isAbove = true;
    await write().finally(() => {
      this.#isAbove = false;
    });
    this.#redraws.now();
  }

  onInterrupt(listener: (() => void) | null): void {
    this.#interrupt = listener;
  }

  async lend<T>(borrow: () => Promise<T>): Promise<T> {
    this.#keyboard.release();
    this.#isLent = true;
    try {
      return await borrow();
    } finally {
      this.#isLent = false;
      if (!this.#isGone) this.#keyboard.take();
    }
  }

  close(): void {
    if (this.#settle !== null) this.#painter.finish(this.#prompt, this.#shown());
    this.#settle = null;
    for (const release of this.#release ?? []) release();
    this.#keyboard.release();
  }

  #listen(): (() => void)[] {
    const { output, job } = this.#options;
    const resized = () => {
      this.#isResized = true;
      this.#redraws.request();
    };
    output.stream.on('resize', resized);
    return [
      () => output.stream.off('resize', resized),
      job.onContinue(() => this.#continue()),
      job.onInterrupt(() => this.#interrupted()),
    ];
  }

  /** In an editor that is not in raw mode, Ctrl-C becomes a SIGINT, which must not clear the line. */
  #interrupted(): void {
    if (!this.#isLent || this.#settle === null) this.#handle(interruptKey);
  }

  /** `isVisible` is true if the line is shown at the prompt. */
  #handle(input: LineInput, isVisible = this.#settle !== null): void {
    if (this.#busy !== null) {
      // Ctrl-C clears the line, and with it the keys that were typed after Tab.
      if (isInterrupt(input) && this.#completion.stop()) this.#waiting.drop();
      this.#waiting.add(input);
      return;
    }
    const { state, action } = edit(this.#state, input, this.#options.history());
    if (isVisible) this.#act(state, action);
    else this.#typeAhead(state, action);
  }

  /** Handles a key before the prompt is shown. Enter becomes a newline, because the user must see a line before it is sent. */
  #typeAhead(state: LineState, action: Action): void {
    if (action === 'interrupt') this.#interrupt?.();
    else if (action === 'suspend') {
      if (this.#settle === null) this.#suspend();
    } else if (action !== 'submit') this.#state = state;
    else if (state.text !== '') this.#state = replaceText(state, state.text.length, state.text.length, '\n');
  }

  #act(state: LineState, action: Action): void {
    switch (action) {
      case 'submit':
        this.#state = state;
        this.#finish({ kind: 'line', line: submittedLine(state) });
        return;
      case 'interrupt':
        this.#clear(state);
        return;
      case 'leave':
        this.#finish({ kind: 'left' });
        return;
      case 'suspend':
        this.#painter.finish(this.#prompt, this.#shown());
        this.#suspend();
        return;
      case 'complete':
        this.#state = state;
        this.#busy = this.#complete(state).finally(() => this.#resume({ isVisible: true }));
        return;
      case 'open-editor':
        this.#state = state;
        this.#busy = this.#edit(state).finally(() => this.#resume({ isVisible: false }));
        return;
      case 'clear-screen':
        this.#painter.clearScreen();
        this.#completion.forgetList();
        break;
      case 'bell':
        this.#ring();
    }
    this.#state = state;
    this.#redraws.request();
  }

  #finish(line: ReadLine): void {
    const settle = this.#settle;
    this.#leaveLine(this.#state);
    this.#settle = null;
    settle?.(line);
  }

  #clear(state: LineState): void {
    const wasEmpty = this.#state.text === '';
    this.#leaveLine(state);
    if (wasEmpty) drawTo(this.#options.output, `${this.#options.leaveHint}\n`);
    this.#redraws.request();
  }

  /** Leaves the line on the screen as it is, and starts an empty one. */
  #leaveLine(state: LineState): void {
    this.#painter.finish(this.#prompt, this.#shown());
    this.#state = { ...lineOf('', state), pastes: [] };
    this.#completion.forgetList();
  }

  async #complete(before: LineState): Promise<void> {
    const { kind, state, list } = await this.#completion.run(before);
    this.#state = state;
    if (kind === 'nothing') this.#ring();
    if (kind !== 'listed') return;
    this.#painter.erase();
    drawTo(this.#options.output, list);
  }

  async #edit(state: LineState): Promise<void> {
    this.#painter.erase();
    const text = editableText(state);
    const edited = await this.lend(() => this.#options.openEditor(text));
    // An unchanged line keeps its meaning. Changed text is a message, even if it begins with a slash.
    if (edited === null || edited === withoutLastNewlines(text)) return;
    this.#state = lineOf(lineFor(edited), state);
  }

  /** `isVisible` is false after an editor: the waiting keys arrived together with the key that opened it, before the line was shown again. */
  #resume({ isVisible }: { readonly isVisible: boolean }): void {
    this.#busy = null;
    const hasHandled = this.#waiting.handOver(
      (input) => this.#handle(input, isVisible && this.#settle !== null),
      () => this.#busy !== null,
    );
    if (!isVisible && hasHandled) this.#state = typedAhead(this.#state);
    this.#redraws.request();
  }

  #ring(): void {
    if (!this.#hasRung) drawTo(this.#options.output, bell);
    this.#hasRung = true;
  }

  #suspend(): void {
    this.#keyboard.release();
    this.#isSuspended = true;
    void this.#options.job.suspend().then(() => this.#isSuspended && this.#continue());
  }

  /** Runs after a suspension. Puts the terminal into raw mode again, and draws the line again. */
  #continue(): void {
    this.#isSuspended = false;
    if (this.#isLent || this.#isGone) return;
    this.#keyboard.release();
    this.#keyboard.take();
    this.#painter.forget();
    this.#redraws.now();
  }

  #end(): void {
    this.#isGone = true;
    const settle = this.#settle;
    this.#settle = null;
    settle?.({ kind: 'gone' });
    this.#interrupt?.();
  }

  #redraw(): void {
    if (this.#settle === null || this.#isLent || this.#isSuspended || this.#isAbove) return;
    const prompt = shownPrompt(this.#state, this.#prompt);
    if (this.#isResized) this.#painter.resized(prompt, this.#shown());
    else this.#painter.paint(prompt, this.#shown());
    this.#isResized = false;
    this.#hasRung = false;
  }

  /** The prompt for the current width of the terminal. */
  get #prompt(): Prompt {
    return this.#promptFor(this.#options.output.columns());
  }

  #shown(): ShownLine {
    return shownLine(this.#state, this.#options.history);
  }
}
