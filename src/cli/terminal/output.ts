// A standard stream as commands use it. It waits for slow readers, ends quietly when the reader goes away, and filters untrusted text
// if the stream needs that.
import type { Writable } from 'node:stream';
import { ParleyError } from '../../service/errors.ts';
import { isDiskFull } from '../../system/file-errors.ts';
import { exactFilter, filterText, type TextFilter, terminalFilter } from './filter.ts';
import {
  type ColourLevel,
  type ColourStream,
  colourLevel,
  type Environment,
  loadStyle,
  type Style,
} from './style.ts';
import { type OutputText, TerminalText } from './terminal-text.ts';

/** A standard stream or another one. Optional properties are those of terminals. */
export interface OutputStream extends ColourStream {
  readonly columns?: number;
  readonly writableLength: number;
  /** Returns false if the buffer is full. `drain` is emitted when there is room again. */
  write(data: string | Uint8Array, written?: (error?: Error | null) => void): boolean;
  on(event: 'drain' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** A stream of Node, for code that draws by itself. `resize` reports another size. */
export type TerminalStream = Writable & { readonly rows?: number };

export interface OutputOptions {
  /**
   * `data` (stdout): exact bytes unless it is a terminal; a failed write is a failure of the command. `talk` (stderr): always filtered;
   * a failed write has no other effect.
   */
  readonly role: 'data' | 'talk';
  readonly env: Environment;
  readonly noColor: boolean;
  /** Ends the wait for a reader that has stopped reading: a waiting write of data then rejects with the reason. */
  readonly signal: AbortSignal;
}

export interface Output {
  readonly isTerminal: boolean;
  /**
   * True for a terminal on which a line may be redrawn: its width is known now, and neither TERM=dumb nor CI is set. A container reports the
   * width only after the start.
   */
  readonly redraws: boolean;
  /** True for a terminal on which text may be laid out: any but TERM=dumb. */
  readonly formats: boolean;
  readonly colour: ColourLevel;
  /** Fires when nothing more can be written: the reader went away, or a write failed (then `write` and `finish` reject). */
  readonly gone: AbortSignal;
  /** For libraries that draw on a terminal by themselves. Other code must not write to it. */
  readonly stream: TerminalStream;
  /** The current width of the terminal, or 80 if it is unknown. */
  columns(): number;
  style(): Promise<Style>;
  /** The text as this stream carries it, for measuring and layout: filtered on a terminal and for talk, otherwise unchanged. */
  visible(text: string): string;
  /**
   * Writes a text. A string is made `visible` first. It resolves when there is room for more, so await it. After `gone` it does nothing.
   */
  write(text: OutputText): Promise<void>;
  /** Shows a line on a terminal that `redraws`, in place of the line drawn before. The next write removes it. */
  draw(line: string): void;
  /** Removes the drawn line, if there is one. */
  erase(): void;
  /** Returns a writer for untrusted text that arrives in chunks, such as a reply. */
  untrusted(): UntrustedWriter;
  /**
   * Resolves to true once the system has taken all output up to now, so that the process may exit, and to false if the signal ended the wait.
   * Also true after `gone`.
   */
  finish(): Promise<boolean>;
}

export interface UntrustedWriter {
  write(text: string): Promise<void>;
  /** Writes the text that is held back, and leaves the line as it is. */
  end(): Promise<void>;
  /** The same, with a newline if the text did not end in one. */
  endLine(): Promise<void>;
  /** Describes the text that is held back until more of it arrives, such as `table, 12 rows`. Null for none. */
  describeHeldText?(): string | null;
}

export function createOutput(stream: OutputStream, options: OutputOptions): Output {
  return new StreamOutput(stream, options);
}

const goneCodes: ReadonlySet<unknown> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** The result of each write that need not wait. */
const written = Promise.resolve();

/** The error of a write to a terminal that has closed. For a disk it is a failure. */
const closedTerminal = 'EIO';

class StreamOutput implements Output {
  readonly isTerminal: boolean;
  readonly formats: boolean;
  readonly colour: ColourLevel;
  readonly stream: TerminalStream;
  readonly #stream: OutputStream;
  readonly #role: 'data' | 'talk';
  readonly #signal: AbortSignal;
  readonly #isCi: boolean;
  readonly #gone = new AbortController();
  /** Equals `gone.aborted`, which takes a tenth of the time of a write. */
  #isGone = false;
  #failure: ParleyError | null = null;
  #waiting: (() => void)[] = [];
  #style: Promise<Style> | null = null;
  #isDrawn = false;

  constructor(stream: OutputStream, { role, env, noColor, signal }: OutputOptions) {
    this.#stream = stream;
    // Only a terminal is drawn on, and a terminal is a stream of Node.
    this.stream = stream as Writable;
    this.isTerminal = stream.isTTY === true;
    const { TERM, CI = '' } = env;
    this.formats = this.isTerminal && TERM !== 'dumb';
    this.#isCi = CI !== '';
    this.colour = colourLevel(stream, env, noColor);
    this.#role = role;
    this.#signal = signal;
    stream.on('drain', () => this.#release());
    stream.on('close', () => this.#markGone(null));
    stream.on('error', (error) => this.#markGone(error));
    signal.addEventListener('abort', () => this.#release());
  }

  get redraws(): boolean {
    // Without a width (a PTY without a size) ora would clear lines without end.
    return this.formats && !this.#isCi && (this.#stream.columns ?? 0) > 0;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  columns(): number {
    return this.#stream.columns || 80;
  }

  style(): Promise<Style> {
    this.#style ??= loadStyle(this.colour);
    return this.#style;
  }

  visible(text: string): string {
    return this.#filters ? filterText(text) : text;
  }

  draw(line: string): void {
    if (!this.redraws || this.#isGone) return;
    // The terminal would wrap a wider line, and the next drawing could not replace it.
    const shown = this.visible(line).slice(0, this.columns() - 1);
    this.#stream.write(`\r${shown}\x1b[K`);
    this.#isDrawn = true;
  }

  erase(): void {
    if (this.#isDrawn && !this.#isGone) this.#stream.write('\r\x1b[K');
    this.#isDrawn = false;
  }

  write(text: OutputText): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    this.erase();
    const sequences = typeof text === 'string' ? this.visible(text) : text.toString();
    if (sequences === '' || this.#isGone || this.#stream.write(sequences)) return written;
    return this.#waitForRoom();
  }

  async #waitForRoom(): Promise<void> {
    if (!this.#signal.aborted) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#throwFailure();
    if (this.#role === 'data') this.#signal.throwIfAborted();
  }

  untrusted(): UntrustedWriter {
    return new FilteredWriter(this, this.#filters ? terminalFilter() : exactFilter());
  }

  async finish(): Promise<boolean> {
    const isTaken = () => this.#isGone || this.#stream.writableLength === 0;
    const wait = () =>
      new Promise<boolean>((resolve) => {
        this.#waiting.push(() => resolve(isTaken()));
        this.#stream.write('', (error) => (error ? this.#markGone(error) : resolve(true)));
      });
    const result = isTaken() || (await wait());
    this.#throwFailure();
    return result;
  }

  get #filters(): boolean {
    return this.isTerminal || this.#role === 'talk';
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #markGone(error: (Error & { readonly code?: unknown }) | null): void {
    if (this.#isGone) return;
    const hasNoReader = goneCodes.has(error?.code) || (this.isTerminal && error?.code === closedTerminal);
    if (error !== null && this.#role === 'data' && !hasNoReader) {
      this.#failure = new ParleyError(
        isDiskFull(error) ? 'STORAGE_FULL' : 'INTERNAL_ERROR',
        `The output could not be written: ${error.message}.`,
        {
          hint: 'The output is incomplete. What the command changed stays changed. Check its destination before you run the command again.',
          cause: error,
        },
      );
    }
    this.#isGone = true;
    this.#gone.abort(this.#failure ?? undefined);
    this.#release();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Writes untrusted text that arrives in chunks through a filter. */
export class FilteredWriter implements UntrustedWriter {
  readonly #output: Output;
  readonly #filter: TextFilter;
  #endsInNewline = false;

  constructor(output: Output, filter: TextFilter) {
    this.#output = output;
    this.#filter = filter;
  }

  write(text: string): Promise<void> {
    return this.#pass(this.#filter.push(text));
  }

  end(): Promise<void> {
    return this.#pass(this.#filter.end());
  }

  async endLine(): Promise<void> {
    await this.end();
    if (!this.#endsInNewline) await this.#pass('\n');
  }

  #pass(text: string): Promise<void> {
    if (text !== '') this.#endsInNewline = text.endsWith('\n');
    // The text has passed the filter of its output, and need not pass it again.
    return this.#output.write(new TerminalText(text));
  }
}
