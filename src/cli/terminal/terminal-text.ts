// Text that contains control sequences of Parley. A writer to a terminal accepts such a text or a plain string. A plain string always passes
// the filter, so foreign text cannot reach the terminal unfiltered by mistake.
import { filterText } from './filter.ts';

export class TerminalText {
  readonly #sequences: string;

  /** `sequences` reaches the terminal unchanged. The architecture test lists the few files that may call this. */
  constructor(sequences: string) {
    this.#sequences = sequences;
  }

  toString(): string {
    return this.#sequences;
  }
}

/** The text that an output accepts. A string is filtered wherever a terminal may show it. */
export type OutputText = string | TerminalText;

/** A template whose literal text may contain sequences (`\x1b[K`). Each string, number or list inserted into it is filtered. */
export function terminalText(
  words: TemplateStringsArray,
  ...parts: readonly (OutputText | number | readonly OutputText[])[]
): TerminalText {
  const texts = parts.map((part) =>
    Array.isArray(part) ? part.map(sequencesOf).join('') : sequencesOf(part as OutputText),
  );
  return new TerminalText(words.map((word, at) => word + (texts[at] ?? '')).join(''));
}

/** The text as a terminal may receive it. */
export function sequencesOf(part: OutputText | number): string {
  return part instanceof TerminalText ? part.toString() : filterText(String(part));
}
