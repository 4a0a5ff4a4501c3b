// The types of an ELIZA script. Its notation is close to that of J. Weizenbaum, "ELIZA", CACM 9(1), 1966. A script is data;
// dialogue.ts executes it.
//
// A pattern splits a clause, word by word. Its elements are numbered from 1:
//   0             any number of words, or none; as few as possible
//   1, 2, …       exactly so many words
//   word          this word
//   (*a b c)      one of these words
//   (/belief)     a word of this class; (/belief family): of one of these classes
// A pattern sees a clause after reflection: "I lost my keys" has become "you lost your keys".
//
// A reassembly is one of:
//   text          a reply; a number in it stands for the words of that element
//   =key          continue with the rules of that keyword
//   (pre text) =key   the same, with this text in place of the clause
//   (newkey)      continue with the next keyword of the clause
// Facts are an addition to the program of 1966. A fact is something that users said about themselves earlier in the session. `{name}` in a
// reassembly is a fact. The reassembly is skipped while that fact is unknown. A reassembly that begins with `(unless name)` is skipped once
// that fact is known.

/** A pattern and its reassemblies, which take turns. */
export type Rule = readonly [pattern: string, ...reassemblies: string[]];

/** A pattern and the text that is built from its parts. */
export type Extract = readonly [pattern: string, text: string];

export interface Keyword {
  /** The keyword of a clause with the highest rank is tried first. The rank is 0 when it is not given. */
  readonly rank?: number;
  /** The first rule whose pattern fits is used. */
  readonly rules: readonly Rule[];
}

export interface Script {
  /** A word that is `=another` has the rank and the rules of that word. A word in capitals is only linked to, and users never type it. */
  readonly keywords: Readonly<Record<string, Keyword | `=${string}`>>;
  /** The replies when no keyword has led to one. Its patterns must fit any clause. */
  readonly none: Rule;
  /** If this keyword has the highest rank in a message, one of the extracts (they take turns) is remembered and used as a later reply. */
  readonly memory: { readonly keyword: string; readonly extracts: readonly Extract[] };
  /**
   * The extracts of each fact, by its name. The first extract that fits a clause counts. An empty text records nothing. Each pattern
   * contains at least one plain word.
   */
  readonly facts: Readonly<Record<string, readonly Extract[]>>;
  /** The words of each class, separated by spaces. */
  readonly classes: Readonly<Record<string, string>>;
  /** Replacements before keywords are looked for: spellings and contractions. */
  readonly spelling: Readonly<Record<string, string>>;
  /**
   * Replacements of words, or of phrases of up to three words, before patterns are tried: I and you. ` .` at the end stands for the end of
   * the clause.
   */
  readonly reflection: Readonly<Record<string, string>>;
}
