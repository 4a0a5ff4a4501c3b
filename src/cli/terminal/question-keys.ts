// The keyboard as a question has it: every key but Ctrl-Z. At that one readline would stop the process by itself, and lose the question.
import { Readable } from 'node:stream';

/** A terminal to read from. */
export type TerminalInput = Readable & { setRawMode?(raw: boolean): unknown };

const suspendByte = 0x1a;
const hangUpMs = 50;

export class QuestionKeys extends Readable {
  /** What is typed before a question stands is none of its answers: inquirer drops it, from a terminal. */
  readonly isTTY = true;
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

  /** Keys come when they come. */
  override _read(): void {}

  /** Lets go of the terminal. */
  release(): void {
    const terminal = this.#terminal;
    terminal.off('data', this.#take);
    terminal.off('end', this.#end);
    terminal.off('close', this.#end);
    terminal.off('error', this.#end);
    terminal.pause();
  }

  readonly #take = (data: Buffer | string): void => {
    const bytes = Buffer.from(data);
    const at = bytes.indexOf(suspendByte);
    this.push(at === -1 ? bytes : bytes.subarray(0, at));
    if (at !== -1) this.#onSuspend();
  };

  /** Ctrl-D is a key here: only a terminal that closes has an end. The signal that says so may come after it, and is the better word. */
  readonly #end = (): void => {
    setTimeout(() => this.push(null), hangUpMs);
  };
}
