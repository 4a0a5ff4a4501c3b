// Separates typed text from pasted text. A terminal with bracketed paste marks the start and the end of a paste. Without these marks, the
// amount of text that arrives at once decides.
import { reportMs, TerminalReports } from '../terminal/terminal-reports.ts';
import type { StartTimer } from '../terminal/timer.ts';

interface PasteReaderOptions {
  readonly onTyped: (text: string) => void;
  readonly onPasted: (text: string) => void;
  readonly startTimer: StartTimer;
  /** Waits for the rest of a key or report. */
  readonly startReadingTimer: StartTimer;
}

const esc = '\x1b';
const start = `${esc}[200~`;
const end = `${esc}[201~`;
const interrupt = '\x03';

/** Longer than a terminal takes between two chunks of one paste, and too short to be noticed. */
const pauseMs = 50;

/** Nobody types this many characters between two reads. */
const maxTyped = 1000;

export class PasteReader {
  readonly #options: PasteReaderOptions;
  /** The chunks of a paste in brackets that has not ended. */
  #paste: string[] | null = null;
  /** Text that may be the beginning of a bracket. */
  #held = '';
  #stopHolding = () => {};
  /** True shortly after a part of a paste without brackets, because the paste may continue. */
  #mayContinue = false;
  #stopContinuationTimer = () => {};
  readonly #reports = new TerminalReports();
  #stopWaiting = () => {};

  constructor(options: PasteReaderOptions) {
    this.#options = options;
  }

  take(text: string): void {
    this.#stopHolding();
    let rest = this.#held + text;
    this.#held = '';
    // Ctrl-C ends a paste without brackets, and one whose closing bracket was lost. A following Enter then submits the line.
    if (text === interrupt) this.#endPaste();
    while (rest !== '')
      rest = this.#paste === null ? this.#takeTyped(rest) : this.#takePaste(rest, this.#paste);
  }

  #takeTyped(text: string): string {
    const at = text.indexOf(start);
    if (at !== -1) {
      this.#emit(text.slice(0, at));
      this.#endPaste();
      this.#paste = [];
      return text.slice(at + start.length);
    }
    const whole = text.length - beginningAtEnd(text, start);
    this.#emit(text.slice(0, whole));
    if (whole < text.length) {
      this.#held = text.slice(whole);
      // Escape alone is a key.
      this.#stopHolding = this.#options.startReadingTimer(pauseMs, () => {
        const text = this.#held;
        this.#held = '';
        this.#emit(text);
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

  /** Ends a paste with or without brackets. */
  #endPaste(): void {
    this.#stopContinuationTimer();
    this.#mayContinue = false;
    const paste = this.#paste?.join('') ?? '';
    this.#paste = null;
    if (paste !== '') this.#options.onPasted(paste);
  }

  /** Handles text without brackets. It waits for the rest of a terminal report that has begun. */
  #emit(received: string): void {
    if (received === '') return;
    this.#stopWaiting();
    const text = this.#reports.push(received);
    if (this.#reports.isOpen) {
      this.#stopWaiting = this.#options.startReadingTimer(reportMs, () =>
        this.#emitWithoutReports(this.#reports.end()),
      );
    }
    this.#emitWithoutReports(text);
  }

  #emitWithoutReports(text: string): void {
    if (text === '') return;
    const { onTyped, onPasted, startTimer } = this.#options;
    const parts = text.split(keys);
    if (!this.#mayContinue && text.length < maxTyped && !parts.some(holdsLines)) {
      onTyped(text);
      return;
    }
    this.#stopContinuationTimer();
    this.#mayContinue = true;
    this.#stopContinuationTimer = startTimer(pauseMs, () => {
      this.#mayContinue = false;
    });
    // Keys stay keys, because the user may have typed ahead of a busy program. A line end in such text is not Enter.
    for (const [index, part] of parts.entries())
      if (part !== '') (index % 2 === 0 ? onPasted : onTyped)(part);
  }
}

/** True if text follows the end of a line. A user who types waits for the effect of Enter. */
function holdsLines(part: string): boolean {
  return /[\r\n]\P{Cc}/u.test(part);
}

/** The keys between parts of text. They are a capturing group, so `split` returns them at the odd indexes. */
const keys = new RegExp(
  `((?:${esc}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z]|[\\r\\n])?|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1a\\x1c-\\x1f\\x7f])+)`,
);

/** The number of characters at the end of the text that are the beginning of the bracket. */
function beginningAtEnd(text: string, bracket: string): number {
  let count = Math.min(text.length, bracket.length - 1);
  while (count > 0 && !bracket.startsWith(text.slice(-count))) count -= 1;
  return count;
}
