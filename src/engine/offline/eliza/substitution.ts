// Replaces words and phrases of a clause from left to right, the longest phrase first. A replacement is not replaced again.
import { readWords, type Word } from './clause.ts';

const clauseEnd = '.';

interface Phrase {
  readonly keys: readonly string[];
  readonly replacement: string;
}

export class Substitution {
  /** The phrases by their first word. Most words begin no phrase, so one lookup is enough for them. */
  readonly #phrases = new Map<string, Phrase[]>();

  constructor(table: Readonly<Record<string, string>>) {
    for (const [phrase, replacement] of Object.entries(table)) {
      const keys = phrase.split(' ');
      const [first = ''] = keys;
      const entry = { keys, replacement };
      const phrases = this.#phrases.get(first);
      if (phrases === undefined) this.#phrases.set(first, [entry]);
      else phrases.push(entry);
    }
    for (const phrases of this.#phrases.values())
      if (phrases.length > 1) phrases.sort((one, other) => other.keys.length - one.keys.length);
  }

  apply(words: readonly Word[]): readonly Word[] {
    const result: Word[] = [];
    for (let at = 0, word = words[at]; word !== undefined; word = words[at]) {
      const phrase = this.#phrases.get(word.key)?.find(({ keys }) => matchesAt(keys, words, at));
      if (phrase === undefined) {
        result.push(word);
        at += 1;
      } else {
        result.push(...readWords(phrase.replacement));
        at += phrase.keys.length;
      }
    }
    return result;
  }
}

function matchesAt(keys: readonly string[], words: readonly Word[], at: number): boolean {
  for (let offset = 1; offset < keys.length; offset += 1) {
    const key = at + offset === words.length ? clauseEnd : words[at + offset]?.key;
    if (key !== keys[offset]) return false;
  }
  return true;
}
