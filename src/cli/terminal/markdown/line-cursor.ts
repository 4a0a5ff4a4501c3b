// A position in the start of a line, counted in columns. A tab extends to the next multiple of four and may be consumed in part.

export class LineCursor {
  readonly #text: string;
  /** False until the end of the line has arrived. */
  readonly complete: boolean;
  #at = 0;
  #column = 0;
  /** The columns of a tab that are not consumed yet. */
  #spare = 0;

  constructor(text: string, complete: boolean) {
    this.#text = text;
    this.complete = complete;
  }

  /** The width of the white space at the cursor. Null if the text ends in white space and more may arrive. */
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
    let remaining = columns;
    while (remaining > 0) {
      if (this.#spare > 0) {
        this.#spare -= 1;
        this.#column += 1;
        remaining -= 1;
      } else if (this.#text[this.#at] === '\t') {
        this.#spare = 4 - (this.#column % 4);
        this.#at += 1;
      } else if (this.#text[this.#at] === ' ') {
        this.#at += 1;
        this.#column += 1;
        remaining -= 1;
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
