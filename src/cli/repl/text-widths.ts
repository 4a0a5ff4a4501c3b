// How many columns a text takes. ASCII needs nothing for that; the rest needs a library that takes a moment to load, which the
// prompt and the first keys need not wait for.
import type { Measure } from '../terminal/table.ts';

const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text);

export class TextWidths {
  readonly #onLoaded: () => void;
  #stringWidth: Measure | null = null;
  #isAsked = false;
  #isGuessed = false;

  /** `onLoaded` is called once texts that were measured before may turn out to be wider than was told. */
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
