// Measures how many columns a text takes. ASCII is measured at once. Other text needs a library, which is loaded after the prompt and
// the first keys.
import type { Measure } from '../terminal/table.ts';

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

export class TextWidths {
  readonly #onLoaded: () => void;
  #stringWidth: Measure | null = null;
  #isAsked = false;
  #isGuessed = false;

  /** `onLoaded` is called once texts that were measured before may have another width. */
  constructor(onLoaded: () => void) {
    this.#onLoaded = onLoaded;
  }

  readonly measure: Measure = (text) => {
    if (isAscii(text)) return text.length;
    if (this.#stringWidth !== null) return this.#stringWidth(text);
    this.#isGuessed = true;
    this.load();
    return text.length;
  };

  load(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    void import('string-width').then(({ default: stringWidth }) => {
      this.#stringWidth = stringWidth;
      if (this.#isGuessed) this.#onLoaded();
    });
  }
}
