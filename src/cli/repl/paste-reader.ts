// Tells apart what of a terminal's text was typed and what was pasted: by the brackets that terminals put around a paste, and where one
// puts none, by how much comes at once.
import { reportMs, TerminalReports } from '../terminal/terminal-reports.ts';
import type { StartTimer } from '../terminal/timer.ts';

export interface PasteReaderOptions {
  readonly typed: (text: string) => void;
  readonly pasted: (text: string) => void;
  readonly startTimer: StartTimer;
}

const esc = '\x1b';
const start = `${esc}[200~`;
const end = `${esc}[201~`;
const interrupt = '\x03';

/** Longer than a terminal takes between two chunks of one thing, and too short to be felt. */
const pauseMs = 50;

/** Nobody types so many characters between two looks at the terminal. */
const mostTyped = 1000;

export class PasteReader {
  readonly #options: PasteReaderOptions;
  /** The chunks of a paste in brackets whose end has not come. */
  #paste: string[] | null = null;
  /** What may be the beginning of a bracket. */
  #held = '';
  #stopHolding = () => {};
  /** A paste without brackets has just come, and may go on. */
  #goesOn = false;
  #stopGoingOn = () => {};
  readonly #reports = new TerminalReports();
  #stopWaiting = () => {};

  constructor(options: PasteReaderOptions) {
    this.#options = options;
  }

  take(text: string): void {
    this.#stopHolding();
    let rest = this.#held + text;
    this.#held = '';
    // The way out where the end of a paste was lost on its way.
    if (text === interrupt && this.#paste !== null) this.#endPaste();
    while (rest !== '')
      rest = this.#paste === null ? this.#takeTyped(rest) : this.#takePaste(rest, this.#paste);
  }

  #takeTyped(text: string): string {
    const at = text.indexOf(start);
    if (at !== -1) {
      this.#tell(text.slice(0, at));
      this.#paste = [];
      return text.slice(at + start.length);
    }
    const whole = text.length - beginningAtEnd(text, start);
    this.#tell(text.slice(0, whole));
    if (whole < text.length) {
      this.#held = text.slice(whole);
      // Escape alone is a key.
      this.#stopHolding = this.#options.startTimer(pauseMs, () => {
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
    // A closing bracket with another behind it was in the paste itself.
    const next = text.indexOf(start, at);
    at = text.lastIndexOf(end, next === -1 ? text.length : next);
    chunks.push(text.slice(0, at));
    this.#endPaste();
    return text.slice(at + end.length);
  }

  #endPaste(): void {
    const paste = this.#paste?.join('') ?? '';
    this.#paste = null;
    if (paste !== '') this.#options.pasted(paste);
  }

  /** What came without brackets; a report that has begun is waited for. */
  #tell(given: string): void {
    if (given === '') return;
    this.#stopWaiting();
    const text = this.#reports.push(given);
    if (this.#reports.isOpen) {
      this.#stopWaiting = this.#options.startTimer(reportMs, () => this.#tellKnown(this.#reports.end()));
    }
    this.#tellKnown(text);
  }

  #tellKnown(text: string): void {
    if (text === '') return;
    const { typed, pasted, startTimer } = this.#options;
    if (!this.#goesOn && text.length < mostTyped && !holdsLines(text)) {
      typed(text);
      return;
    }
    this.#stopGoingOn();
    this.#goesOn = true;
    this.#stopGoingOn = startTimer(pauseMs, () => {
      this.#goesOn = false;
    });
    // Keys are keys, as of who typed ahead of a busy program; but the end of a line there is no Enter.
    for (const [index, part] of text.split(keys).entries())
      if (part !== '') (index % 2 === 0 ? pasted : typed)(part);
  }
}

/** Text behind the end of a line: whoever types ends a line, and looks. Keys such as the arrows (`ESC [ A`) are no text. */
function holdsLines(text: string): boolean {
  return /[\r\n]\P{Cc}/u.test(text.replace(keySequence, '\0'));
}

/** Those between text. */
const keys = new RegExp(
  `((?:${esc}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z]|[\\r\\n])?|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1a\\x1c-\\x1f\\x7f])+)`,
);

const keySequence = new RegExp(`${esc}(?:\\[[\\d;]*[~A-Za-z]|O[A-Za-z]|[\\r\\n])`, 'g');

/** How many of the last characters are the first ones of a bracket. */
function beginningAtEnd(text: string, bracket: string): number {
  let count = Math.min(text.length, bracket.length - 1);
  while (count > 0 && !bracket.startsWith(text.slice(-count))) count -= 1;
  return count;
}
