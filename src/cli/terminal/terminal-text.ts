// Text with control sequences of our own in it. Whoever writes to a terminal gives either such a text or a plain string, and a plain
// string always goes through the filter: text of others cannot reach a terminal unfiltered because somebody forgot.
import { filterText } from './filter.ts';

export class TerminalText {
  readonly #sequences: string;

  /** `sequences` goes to the terminal as it is. The architecture's rules name the few files that may make one of a plain string. */
  constructor(sequences: string) {
    this.#sequences = sequences;
  }

  toString(): string {
    return this.#sequences;
  }
}

/** What an output takes: a string is filtered wherever it may be shown on a terminal. */
export type OutputText = string | TerminalText;

/** A template whose own words may hold sequences (`\x1b[K`); each string, number or list put into it is filtered. */
export function terminalText(
  words: TemplateStringsArray,
  ...parts: readonly (OutputText | number | readonly OutputText[])[]
): TerminalText {
  const texts = parts.map((part) =>
    Array.isArray(part) ? part.map(shown).join('') : shown(part as OutputText),
  );
  return new TerminalText(words.map((word, at) => word + (texts[at] ?? '')).join(''));
}

/** As a terminal may be given it. */
export function shown(part: OutputText | number): string {
  return part instanceof TerminalText ? part.toString() : filterText(String(part));
}
