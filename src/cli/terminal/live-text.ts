// A status text after a reply that shows nothing for a second: `table, 12 rows`, `Thinking 4 s`. It is drawn after the last character of the
// reply, and is erased before the reply continues, so it leaves no trace. Only a terminal that redraws gets it.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { ForwardingOutput } from './forwarding-output.ts';
import type { Output } from './output.ts';
import type { Measure } from './table.ts';
import { type OutputText, sequencesOf, terminalText } from './terminal-text.ts';
import { startTimer } from './timer.ts';

/** The text is shown when the reply has stood still for this long (ms). */
const patienceMs = 1000;
const stepMs = 500;
const tabWidth = 8;

export class LiveText extends ForwardingOutput {
  readonly #measure: Measure;
  /** Returns the status text. Null if there is none. */
  #words: ((seconds: number) => string) | null = null;
  /** The time of the last write, or of the call of `begin`. */
  #since = 0;
  #column = 0;
  /** The width of the status text on the screen. 0 for none. */
  #width = 0;
  #cancel = () => {};

  /** `target` is a terminal, and its cursor is at the start of a line. */
  constructor(target: Output, measure: Measure) {
    super(target);
    this.#measure = measure;
  }

  /** Shows the words while nothing is written, from now until `stop`. `seconds` is the time since the last write. */
  begin(words: (seconds: number) => string): void {
    if (!this.redraws) return;
    if (this.#words === null) {
      this.#since = monotonicMs();
      this.#schedule();
    }
    this.#words = words;
  }

  async stop(): Promise<void> {
    this.#words = null;
    this.#cancel();
    await this.#erase();
  }

  async write(text: OutputText): Promise<void> {
    const sequences = sequencesOf(text);
    if (sequences === '') return;
    await this.#erase();
    this.#follow(sequences);
    this.#since = monotonicMs();
    return this.target.write(text);
  }

  #schedule(): void {
    this.#cancel = startTimer(stepMs, () => {
      this.#schedule();
      void this.#draw();
    });
  }

  async #draw(): Promise<void> {
    const seconds = Math.floor((monotonicMs() - this.#since) / 1000);
    if (this.#words === null || seconds * 1000 < patienceMs) return;
    const gap = this.#column === 0 ? '' : ' ';
    const text = `${gap}${this.#words(seconds)}`;
    const width = this.#measure(text);
    // After the last column a terminal delays the wrap, and the cursor could not move back correctly.
    if (this.#column + width >= this.columns()) return;
    const back = this.#back();
    this.#width = width;
    await this.target.write(terminalText`${back}\x1b[2m${text}\x1b[22m\x1b[K`);
  }

  async #erase(): Promise<void> {
    if (this.#width === 0) return;
    const back = this.#back();
    this.#width = 0;
    await this.target.write(terminalText`${back}\x1b[K`);
  }

  #back(): OutputText {
    return this.#width === 0 ? '' : terminalText`\x1b[${this.#width}D`;
  }

  /** Computes the column of the cursor after this text. */
  #follow(sequences: string): void {
    const text = sequences.replace(/\x1b\[[\d;]*[A-Za-z]/g, '');
    const end = text.lastIndexOf('\n');
    if (end >= 0) this.#column = 0;
    for (const [at, part] of text
      .slice(end + 1)
      .split('\t')
      .entries()) {
      if (at > 0) this.#column += tabWidth - (this.#column % tabWidth);
      this.#column += this.#measure(part);
    }
    const columns = this.columns();
    if (this.#column > columns) this.#column = this.#column % columns || columns;
  }
}
