// Measures how many columns a text takes. ASCII needs no library. The library for other text is loaded after the prompt and the first
// keys.
import type { Measure } from '../terminal/table.ts';

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

export class TextWidths {
  readonly #onLoaded: () => void;
  #stringWidth: Measure | null = null;
  #isLoading = false;
  #hasGuessed = false;

  /** `onLoaded` is called when the library is loaded, if widths were only guessed before. */
  constructor(onLoaded: () => void) {
    this.#onLoaded = onLoaded;
  }

  readonly measure: Measure = (text) => {
    if (isAscii(text)) return text.length;
    if (this.#stringWidth !== null) return this.#stringWidth(text);
    this.#hasGuessed = true;
    this.load();
    return text.length;
  };

  load(): void {
    if (this.#isLoading) return;
    this.#isLoading = true;
    void import('string-width').then(({ default: stringWidth }) => {
      this.#stringWidth = stringWidth;
      if (this.#hasGuessed) this.#onLoaded();
    });
  }
}
