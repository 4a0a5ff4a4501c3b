// The keyboard of the terminal while it is ours: raw, so that every key arrives, with pastes in brackets. What a key means is for
// others to say. The terminal gets back what it had, whatever happens.
import { EventEmitter } from 'node:events';
import { emitKeypressEvents } from 'node:readline';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStream } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import { startTimer } from '../terminal/timer.ts';
import type { LineInput } from './line-input.ts';
import { PasteReader } from './paste-reader.ts';

export interface KeyboardOptions {
  readonly open: () => TerminalInput;
  /** The same terminal, to write to. */
  readonly stream: TerminalStream;
  readonly onInput: (input: LineInput) => void;
  /** The terminal went away. */
  readonly onEnd: () => void;
  /** Has an action run as the process ends, however it ends; returns what takes that back. */
  readonly atExit: (action: () => void) => () => void;
}

interface Keypress {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

const pasteBrackets = '\x1b[?2004h';
const noPasteBrackets = '\x1b[?2004l';
const showCursor = '\x1b[?25h';

export class Keyboard {
  readonly #options: KeyboardOptions;
  #input: TerminalInput | null = null;
  readonly #decoder = new StringDecoder('utf8');
  /** Node makes keys of what is typed; a paste is no business of its parser, which takes half an escape sequence for the next key. */
  readonly #keys = new EventEmitter();
  #pastes: PasteReader | null = null;
  /** Once for all: a terminal that is gone may say so late. */
  #heedsErrors = false;
  #forgetExit = () => {};

  constructor(options: KeyboardOptions) {
    this.#options = options;
    emitKeypressEvents(this.#keys as Readable);
    this.#keys.on('keypress', this.#press);
  }

  /** From now on keys arrive. */
  take(): void {
    if (this.#input !== null) return;
    const input = this.#options.open();
    this.#input = input;
    this.#forgetExit = this.#options.atExit(() => this.release());
    const pastes = new PasteReader({
      typed: (text) => this.#keys.emit('data', text),
      pasted: (text) => this.#options.onInput({ kind: 'paste', text }),
      // What had begun when the terminal was given away is over; what had come at once with the key that gave it away is not.
      startTimer: (milliseconds, action) =>
        startTimer(milliseconds, () => this.#pastes === pastes && action()),
    });
    this.#pastes = pastes;
    input.setRawMode?.(true);
    this.#write(pasteBrackets);
    input.on('data', this.#take);
    input.on('end', this.#end);
    input.on('close', this.#end);
    if (!this.#heedsErrors) input.on('error', this.#end);
    this.#heedsErrors = true;
    input.resume();
  }

  /** The terminal is as it was before, for another program, a question, or the shell. */
  release(): void {
    const input = this.#input;
    if (input === null) return;
    this.#input = null;
    this.#pastes = null;
    this.#forgetExit();
    input.off('data', this.#take);
    input.off('end', this.#end);
    input.off('close', this.#end);
    input.pause();
    try {
      input.setRawMode?.(false);
    } catch {
      // It is gone: there is no mode to give back.
    }
    this.#write(noPasteBrackets + showCursor);
  }

  /** Past the pace of the output: this is also written while the process ends. */
  #write(text: string): void {
    const { stream } = this.#options;
    if (!stream.destroyed && !stream.writableEnded) stream.write(text);
  }

  readonly #end = (): void => {
    if (this.#input === null) return;
    this.release();
    this.#options.onEnd();
  };

  readonly #take = (data: Buffer | string): void => {
    this.#pastes?.take(typeof data === 'string' ? data : this.#decoder.write(data));
  };

  readonly #press = (text: string | undefined, keypress: Keypress): void => {
    const { name = '', ctrl = false, meta = false, sequence = text ?? '' } = keypress;
    this.#options.onInput({ kind: 'key', key: { name, ctrl, meta, sequence } });
  };
}
