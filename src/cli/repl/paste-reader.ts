// Separates typed text from pasted text. A terminal with bracketed paste puts brackets around a paste. Without them, the amount of text
// that arrives at once decides.
import { reportMs, TerminalReports } from '../terminal/terminal-reports.ts';
import type { StartTimer } from '../terminal/timer.ts';

export interface PasteReaderOptions {
  readonly typed: (text: string) => void;
  readonly pasted: (text: string) => void;
  readonly startTimer: StartTimer;
  /** Waits for the rest of a key or report; by default as `startTimer`. */
  readonly startReadingTimer?: StartTimer;
}

const esc = '\x1b';
const start = `${esc}[200~`;
const end = `${esc}[201~`;
const interrupt = '\x03';

/** Longer than a terminal takes between two chunks of one paste, and too short to be felt. */
const pauseMs = 50;

/** Nobody types this many characters between two reads. */
const mostTyped = 1000;

export class PasteReader {
  readonly #options: PasteReaderOptions;
  /** The chunks of a paste in brackets that has not ended. */
  #paste: string[] | null = null;
  /** Text that may be the beginning of a bracket. */
  #held = '';
  #stopHolding = () => {};
  /** True shortly after a paste without brackets, which may continue. */
  #goesOn = false;
  #stopGoingOn = () => {};
  readonly #reports = new TerminalReports();
  #stopWaiting = () => {};

  constructor(options: PasteReaderOptions) {
    this.#options = options;
  }

  get #startReadingTimer(): StartTimer {
    return this.#options.startReadingTimer ?? this.#options.startTimer;
  }

  take(text: string): void {
    this.#stopHolding();
    let rest = this.#held + text;
    this.#held = '';
    // Ctrl-C ends a paste whose closing bracket was lost, and one without brackets. Enter behind it submits.
    if (text === interrupt) this.#endPaste();
    while (rest !== '')
      rest = this.#paste === null ? this.#takeTyped(rest) : this.#takePaste(rest, this.#paste);
  }

  #takeTyped(text: string): string {
    const at = text.indexOf(start);
    if (at !== -1) {
      this.#tell(text.slice(0, at));
      this.#endPaste();
      this.#paste = [];
      return text.slice(at + start.length);
    }
    const whole = text.length - beginningAtEnd(text, start);
    this.#tell(text.slice(0, whole));
    if (whole < text.length) {
      this.#held = text.slice(whole);
      // Escape alone is a key.
      this.#stopHolding = this.#startReadingTimer(pauseMs, () => {
        const held = this.#held;
        this.#held = '';
        this.#tell(held);
      });
    }
    return '';
  }

  #takePaste(text: string, chunks: string[]): string {
    let at = text.indexOf(end);
    if (at === -1) {
      const whole = text.length - beginningAtEnd(text, end);
      chunks.push(text.slice(0, whole));
      this.#held = text.slice(whole);
      return '';
    }
    // Only the last closing bracket ends the paste. An earlier one is a part of the pasted text.
    const next = text.indexOf(start, at);
    at = text.lastIndexOf(end, next === -1 ? text.length : next);
    chunks.push(text.slice(0, at));
    this.#endPaste();
    return text.slice(at + end.length);
  }

  /** Ends a paste of either kind. */
  #endPaste(): void {
    this.#stopGoingOn();
    this.#goesOn = false;
    const paste = this.#paste?.join('') ?? '';
    this.#paste = null;
    if (paste !== '') this.#options.pasted(paste);
  }

  /** Handles text without brackets. A terminal report that has begun is waited for. */
  #tell(given: string): void {
    if (given === '') return;
    this.#stopWaiting();
    const text = this.#reports.push(given);
    if (this.#reports.isOpen) {
      this.#stopWaiting = this.#startReadingTimer(reportMs, () => this.#tellKnown(this.#reports.end()));
    }
    this.#tellKnown(text);
  }

  #tellKnown(text: string): void {
    if (text === '') return;
    const { typed, pasted, startTimer } = this.#options;
    const parts = text.split(keys);
    if (!this.#goesOn && text.length < mostTyped && !parts.some(holdsLines)) {
      typed(text);
      return;
    }
    this.#stopGoingOn();
    this.#goesOn = true;
    this.#stopGoingOn = startTimer(pauseMs, () => {
      this.#goesOn = false;
    });
    // Keys stay keys, for example of a person who typed ahead of a busy program. A line end there is not Enter.
    for (const [index, part] of parts.entries()) if (part !== '') (index % 2 === 0 ? pasted : typed)(part);
  }
}

/** True if text follows the end of a line. A person who types waits for the effect of Enter. */
function holdsLines(part: string): boolean {
  return /[\r\n]\P{Cc}/u.test(part);
}

/** The keys between text, as a group: `split` puts them at the odd indexes. */
const keys = new RegExp(
  `((?:${esc}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z]|[\\r\\n])?|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1a\\x1c-\\x1f\\x7f])+)`,
);

/** The number of characters at the end that are the beginning of a bracket. */
function beginningAtEnd(text: string, bracket: string): number {
  let count = Math.min(text.length, bracket.length - 1);
  while (count > 0 && !bracket.startsWith(text.slice(-count))) count -= 1;
  return count;
}
