// Reads the keyboard of the terminal in raw mode, so that every key arrives, and with bracketed paste. The line editor handles the keys. The
// former modes of the terminal are restored, however the process ends.
import { EventEmitter } from 'node:events';
import { emitKeypressEvents } from 'node:readline';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { TerminalStream } from '../terminal/output.ts';
import type { TerminalInput } from '../terminal/question-keys.ts';
import { type StartTimer, startTimer } from '../terminal/timer.ts';
import type { LineInput } from './line-input.ts';
import { PasteReader } from './paste-reader.ts';

interface KeyboardOptions {
  readonly open: () => TerminalInput;
  /** The same terminal, for output. */
  readonly stream: TerminalStream;
  readonly onInput: (input: LineInput) => void;
  /** Called when the terminal has closed. */
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
/** Ctrl-C or Ctrl-Z soon after Escape. Node reports both together as one unknown key. */
const controlAfterEscape = /^\x1b+([\x03\x1a])$/;

export class Keyboard {
  readonly #options: KeyboardOptions;
  #input: TerminalInput | null = null;
  readonly #decoder = new StringDecoder('utf8');
  /** Node parses typed text into keys. A paste bypasses that parser, which would join half an escape sequence with the next key. */
  readonly #keys = new EventEmitter();
  #pastes: PasteReader | null = null;
  /** The listener for errors is never removed, because a closed terminal may report an error late. */
  #listensForErrors = false;
  #removeExitAction = () => {};

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
    this.#removeExitAction = this.#options.atExit(() => this.release());
    const pastes = new PasteReader({
      onTyped: (text) => this.#keys.emit('data', text),
      onPasted: (text) => this.#options.onInput({ kind: 'paste', text }),
      // A report that had begun when the terminal was released is dropped. Text that arrived together with the key that released it is
      // kept.
      startTimer,
      startReadingTimer: (milliseconds, action) =>
        startReadingTimer(milliseconds, () => this.#pastes === pastes && action()),
    });
    this.#pastes = pastes;
    try {
      input.setRawMode?.(true);
    } catch {
      // The terminal has closed. Reading from it reports its end.
    }
    this.#write(pasteBrackets);
    input.on('data', this.#receive);
    input.on('end', this.#end);
    input.on('close', this.#end);
    if (!this.#listensForErrors) input.on('error', this.#end);
    this.#listensForErrors = true;
    input.resume();
  }

  /** Stops reading and restores the former modes of the terminal, for another program, a question, or the shell. */
  release(): void {
    const input = this.#input;
    if (input === null) return;
    this.#input = null;
    this.#pastes = null;
    this.#removeExitAction();
    input.off('data', this.#receive);
    input.off('end', this.#end);
    input.off('close', this.#end);
    input.pause();
    try {
      input.setRawMode?.(false);
    } catch {
      // The terminal has closed, so there is no mode to restore.
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

  readonly #receive = (data: Buffer | string): void => {
    this.#pastes?.take(typeof data === 'string' ? data : this.#decoder.write(data));
  };

  readonly #press = (text: string | undefined, keypress: Keypress): void => {
    const { name = '', ctrl = false, meta = false, sequence = text ?? '' } = keypress;
    const [, control] = controlAfterEscape.exec(sequence) ?? [];
    const key =
      control === undefined
        ? { name, ctrl, meta, sequence }
        : { name: control === '\x03' ? 'c' : 'z', ctrl: true, meta: false, sequence: control };
    this.#options.onInput({ kind: 'key', key });
  };
}

/**
 * A timer that lets the terminal be read before the action. When the event loop was blocked, a timer may expire between the two parts of an
 * arrow key. The event loop reads the terminal before it runs an immediate.
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
