// The keyboard for a question. It passes on every key except Ctrl-Z, at which readline would stop the process and lose the question. It
// drops terminal reports, and pasted characters that could control a terminal, because inquirer echoes the input.
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { reportMs, TerminalReports } from './terminal-reports.ts';

/** A terminal for input. */
export type TerminalInput = Readable & { setRawMode?(raw: boolean): unknown };

const suspend = '\x1a';
const interrupt = '\x03';
const esc = '\x1b';
/** C1 control characters, and characters that reorder text. */
const dangerous = /[\x80-\x9f\u202a-\u202e\u2066-\u2069]/g;
const hangUpMs = 50;

export class QuestionKeys extends Readable {
  /** If the input is a terminal, inquirer drops the keys that were typed before the question. */
  readonly isTTY = true;
  readonly #decoder = new StringDecoder('utf8');
  readonly #reports = new TerminalReports();
  #timer: NodeJS.Timeout | undefined;
  #endsInEscape = false;
  readonly #terminal: TerminalInput;
  readonly #onSuspend: () => void;

  constructor(terminal: TerminalInput, onSuspend: () => void) {
    super();
    this.#terminal = terminal;
    this.#onSuspend = onSuspend;
    terminal.on('data', this.#take);
    terminal.on('end', this.#end);
    terminal.on('close', this.#end);
    terminal.on('error', this.#end);
    terminal.resume();
  }

  setRawMode(raw: boolean): void {
    this.#terminal.setRawMode?.(raw);
  }

  /** Keys are pushed when they arrive. */
  override _read(): void {}

  /** Removes the listeners from the terminal. */
  release(): void {
    const terminal = this.#terminal;
    clearTimeout(this.#timer);
    terminal.off('data', this.#take);
    terminal.off('end', this.#end);
    terminal.off('close', this.#end);
    terminal.off('error', this.#end);
    terminal.pause();
  }

  readonly #take = (data: Buffer | string): void => {
    clearTimeout(this.#timer);
    const all = this.#reports.push(typeof data === 'string' ? data : this.#decoder.write(data));
    if (this.#reports.isOpen) this.#timer = setTimeout(() => this.#pass(this.#reports.end()), reportMs);
    const text = all.replace(dangerous, '');
    const at = text.indexOf(suspend);
    this.#pass(at === -1 ? text : text.slice(0, at));
    if (at !== -1) this.#onSuspend();
  };

  /** readline joins Ctrl-C with the Escape of the last half second to one unknown key. A second Ctrl-C is then a key. */
  #pass(text: string): void {
    if (text === '') return;
    const keys = text.replaceAll(esc + interrupt, interrupt);
    this.push(this.#endsInEscape && keys.startsWith(interrupt) ? interrupt + keys : keys);
    this.#endsInEscape = keys.endsWith(esc);
  }

  /**
   * Ctrl-D is a key here, so only a terminal that closes has an end. The signal of a closed terminal may come later and takes
   * precedence.
   */
  readonly #end = (): void => {
    setTimeout(() => this.push(null), hangUpMs);
  };
}
