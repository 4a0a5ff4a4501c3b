// Reads the keyboard of the terminal: in raw mode, so that every key arrives, with pastes in brackets. The line editor knows what a key
// means. The terminal gets its former modes back, however the process ends.
import { EventEmitter } from 'node:events';
import { emitKeypressEvents } from 'node:readline';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStream } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import { type StartTimer, startTimer } from '../terminal/timer.ts';
import type { LineInput } from './line-input.ts';
import { PasteReader } from './paste-reader.ts';

export interface KeyboardOptions {
  readonly open: () => TerminalInput;
  /** The same terminal, for output. */
  readonly stream: TerminalStream;
  readonly onInput: (input: LineInput) => void;
  /** Called when the terminal is gone. */
  readonly onEnd: () => void;
  /** Registers an action to run when the process ends, however it ends. Returns a function that removes it. */
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
  /**
   * Node parses typed text into keys. A paste does not go through that parser, which would join half an escape sequence with the next
   * key.
   */
  readonly #keys = new EventEmitter();
  #pastes: PasteReader | null = null;
  /** The listener for errors stays for ever, because a terminal that is gone may report it late. */
  #heedsErrors = false;
  #forgetExit = () => {};

  constructor(options: KeyboardOptions) {
    this.#options = options;
    emitKeypressEvents(this.#keys as Readable);
    this.#keys.on('keypress', this.#press);
  }

  /** Starts to read keys. */
  take(): void {
    if (this.#input !== null) return;
    const input = this.#options.open();
    this.#input = input;
    this.#forgetExit = this.#options.atExit(() => this.release());
    const pastes = new PasteReader({
      typed: (text) => this.#keys.emit('data', text),
      pasted: (text) => this.#options.onInput({ kind: 'paste', text }),
      // A report that had begun when the terminal was given away is dropped. Text that came at once with the key that gave it away is
      // kept.
      startTimer,
      startReadingTimer: (milliseconds, action) =>
        startReadingTimer(milliseconds, () => this.#pastes === pastes && action()),
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

  /** Gives the terminal back with its former modes, for another program, a question, or the shell. */
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
      // The terminal is gone, so there is no mode to restore.
    }
    this.#write(noPasteBrackets + showCursor);
  }

  /** Writes without waiting for the output, because this also runs while the process ends. */
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

/**
 * After a busy moment a timer may be due before the terminal was read, for example between the two parts of an arrow key. The event loop
 * reads the terminal before the immediate.
 */
const startReadingTimer: StartTimer = (milliseconds, action) => {
  let immediate: NodeJS.Immediate | undefined;
  const stop = startTimer(milliseconds, () => {
    immediate = setImmediate(action);
  });
  return () => {
    stop();
    clearImmediate(immediate);
  };
};
