// Writes lines of a terminal, append-only. Words are wrapped to the current width of the terminal, and each line starts with the prefix
// of its block. A written word is never changed.
import { graphemesOf } from '../graphemes.ts';
import type { Measure } from '../table.ts';
import { mayBreakBetween } from './line-breaks.ts';

export interface LinePrefix {
  readonly text: string;
  readonly width: number;
}

interface LineWriterOptions {
  readonly columns: () => number;
  /** Returns the prefix of the next line. It is called once per line. */
  readonly prefix: (columns: number) => LinePrefix;
  /** Called when the line with that prefix is written. */
  readonly onBegin: () => void;
  readonly measure: Measure;
  /** True if a long address is cut like any other word, as in a table cell. */
  readonly cutsAddresses: boolean;
}

interface Piece {
  readonly text: string;
  readonly codes: string;
}

const printableAscii = /^[ -~]*$/;

export class LineWriter {
  readonly #options: LineWriterOptions;
  #written = '';
  /** The word that has not ended yet. */
  #word: Piece[] = [];
  #wordWidth = 0;
  #lastCode = 0;
  #spaces = 0;
  #spacesCodes = '';
  #hasLine = false;
  #mustBreak = false;
  /** The SGR codes that are on. */
  #codes = '';
  #column = 0;
  #prefixWidth = 0;
  #hasWritten = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** Returns what was written since the last call. */
  take(): string {
    const written = this.#written;
    this.#written = '';
    return written;
  }

  /** Writes text that wraps. A newline breaks the line. A run of spaces becomes one space unless `exact`. */
  put(text: string, codes: string, exact = false): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x09) continue;
      if (at > from) this.#add(text.slice(from, at), codes);
      from = at + 1;
      this.#endWord();
      if (code === 0x0a) this.endLine();
      else if (this.#hasLine && !this.#mustBreak) {
        this.#spaces = exact ? this.#spaces + 1 : Math.max(this.#spaces, 1);
        this.#spacesCodes = codes;
      }
    }
    if (from < text.length) this.#add(from === 0 ? text : text.slice(from), codes);
  }

  /** The width of the word that has not ended. */
  get waiting(): number {
    return this.#wordWidth;
  }

  /** Ends the word, as a space would, and leaves the terminal neutral. */
  flush(): void {
    this.#endWord();
    this.neutral();
  }

  /** Turns colour off, so that none stays on between two writes. */
  neutral(): void {
    if (this.#codes !== '') this.#written += '\x1b[0m';
    this.#codes = '';
  }

  #endWord(): void {
    this.#lastCode = 0;
    if (this.#word.length === 0) return;
    const word = this.#word;
    const width = this.#wordWidth;
    this.#word = [];
    this.#wordWidth = 0;
    this.#place(word, width);
  }

  /** Ends the line. The next text starts a new one. */
  endLine(): void {
    this.flush();
    this.#mustBreak = true;
    this.#spaces = 0;
  }

  /** Writes one whole line that is never wrapped. */
  line(text: string): void {
    this.endLine();
    this.#begin();
    this.append(text);
    this.endLine();
  }

  /** Appends to a line that is never wrapped, and starts it if necessary. */
  append(text: string): void {
    if (!this.#hasLine || this.#mustBreak) this.#begin();
    this.#written += text;
  }

  /** Writes a line with the prefix alone, for a block or a line of code without text. */
  emptyLine(): void {
    this.endLine();
    this.#begin();
    this.#mustBreak = true;
  }

  /** Writes an empty line with this prefix. It writes nothing before the first line. */
  blank(prefix: string): void {
    if (!this.#hasWritten) return;
    this.endLine();
    this.#written += `\n${prefix}`;
  }

  /** The number of columns for text in a line of the block. */
  width(): number {
    const columns = this.#options.columns();
    return Math.max(1, columns - this.#options.prefix(columns).width);
  }

  #add(text: string, codes: string): void {
    if (printableAscii.test(text)) {
      if (this.#lastCode > 0 && mayBreakBetween(this.#lastCode, text.charCodeAt(0))) this.#endWord();
      this.#lastCode = text.charCodeAt(text.length - 1);
      this.#push(text, text.length, codes);
      return;
    }
    let from = 0;
    for (let at = 0; at < text.length; ) {
      const code = text.codePointAt(at) ?? 0;
      if (this.#lastCode > 0 && mayBreakBetween(this.#lastCode, code)) {
        if (at > from) this.#push(text.slice(from, at), this.#options.measure(text.slice(from, at)), codes);
        from = at;
        this.#endWord();
      }
      this.#lastCode = code;
      at += code > 0xffff ? 2 : 1;
    }
    const rest = text.slice(from);
    this.#push(rest, this.#options.measure(rest), codes);
  }

  #push(text: string, width: number, codes: string): void {
    this.#word.push({ text, codes });
    this.#wordWidth += width;
  }

  #place(word: readonly Piece[], width: number): void {
    const columns = this.#options.columns();
    if (!this.#hasLine || this.#mustBreak) this.#begin();
    else if (this.#column + this.#spaces + width > columns && this.#column > this.#prefixWidth) this.#begin();
    if (this.#prefixWidth + width > columns && (this.#options.cutsAddresses || !isAddress(word))) {
      this.#placeInParts(word, columns);
      return;
    }
    const [first] = word;
    if (this.#spaces > 0 && first !== undefined) {
      const gap = ' '.repeat(this.#spaces);
      this.#paint(gap, first.codes === this.#spacesCodes ? first.codes : '');
      this.#column += this.#spaces;
      this.#spaces = 0;
    }
    for (const { text, codes } of word) this.#paint(text, codes);
    this.#column += width;
    // An address that is too long is left to the terminal to wrap, so that it can still be followed and copied.
    if (this.#column > columns) this.#column = this.#column % columns || columns;
  }

  /** Cuts a word that is wider than a line between graphemes. */
  #placeInParts(word: readonly Piece[], columns: number): void {
    this.#paint(' '.repeat(this.#spaces), '');
    this.#column += this.#spaces;
    this.#spaces = 0;
    for (const { text, codes } of word) {
      let part = '';
      // Each unit of ASCII text is a grapheme. Segmenting it would take ten times as long.
      const isPlain = printableAscii.test(text);
      for (const character of isPlain ? text : graphemesOf(text)) {
        const width = isPlain ? 1 : this.#options.measure(character);
        if (this.#column + width > columns && this.#column > this.#prefixWidth) {
          this.#paint(part, codes);
          part = '';
          this.#begin();
        }
        part += character;
        this.#column += width;
      }
      this.#paint(part, codes);
    }
  }

  #paint(text: string, codes: string): void {
    if (text === '') return;
    if (codes !== this.#codes) {
      this.neutral();
      if (codes !== '') this.#written += `\x1b[${codes}m`;
      this.#codes = codes;
    }
    this.#written += text;
  }

  #begin(): void {
    this.neutral();
    const { text, width } = this.#options.prefix(this.#options.columns());
    this.#written += this.#hasWritten ? `\n${text}` : text;
    this.#options.onBegin();
    this.#hasWritten = true;
    this.#hasLine = true;
    this.#mustBreak = false;
    this.#spaces = 0;
    this.#column = width;
    this.#prefixWidth = width;
  }
}

function isAddress(word: readonly Piece[]): boolean {
  return word.some(({ text }) => text.includes('://'));
}
