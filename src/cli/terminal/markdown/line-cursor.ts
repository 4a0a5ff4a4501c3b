// A place in the beginning of a line, in columns: a tab counts to the next stop of four, and may be consumed in part.

export class LineCursor {
  readonly #text: string;
  /** False while the end of the line has not come. */
  readonly complete: boolean;
  #at = 0;
  #column = 0;
  /** Columns of a tab that are still to be consumed. */
  #spare = 0;

  constructor(text: string, complete: boolean) {
    this.#text = text;
    this.complete = complete;
  }

  get column(): number {
    return this.#column;
  }

  /** The columns of white space from here on; null if the text ends in it, for more may come. */
  indent(): number | null {
    let column = this.#column + this.#spare;
    for (let at = this.#at; at < this.#text.length; at++) {
      const character = this.#text[at];
      if (character === ' ') column += 1;
      else if (character === '\t') column += 4 - (column % 4);
      else return column - this.#column;
    }
    return this.complete ? column - this.#column : null;
  }

  get isBlank(): boolean {
    return /^[ \t]*$/.test(this.#text.slice(this.#at));
  }

  skipColumns(columns: number): void {
    let left = columns;
    while (left > 0) {
      if (this.#spare > 0) {
        this.#spare -= 1;
        this.#column += 1;
        left -= 1;
      } else if (this.#text[this.#at] === '\t') {
        this.#spare = 4 - (this.#column % 4);
        this.#at += 1;
      } else if (this.#text[this.#at] === ' ') {
        this.#at += 1;
        this.#column += 1;
        left -= 1;
      } else return;
    }
  }

  skipCharacters(count: number): void {
    this.#at += count;
    this.#column += count;
  }

  get isAtEnd(): boolean {
    return this.#spare === 0 && this.#at >= this.#text.length;
  }

  get isAtSpace(): boolean {
    return this.#spare > 0 || this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t';
  }

  rest(): string {
    return ' '.repeat(this.#spare) + this.#text.slice(this.#at);
  }
}
