// What a script of ELIZA is, and its notation, close to the one of J. Weizenbaum, "ELIZA", CACM 9(1), 1966. A script is
// data alone: the dialogue gives it life.
//
// A pattern takes a clause apart, word by word; its elements are numbered from 1:
//   0             any number of words, none too, as few as will do
//   1, 2, …       exactly so many words
//   word          this word
//   (*a b c)      one of these words
//   (/belief)     a word of this class; (/belief family) of either
// Patterns see a clause after reflection: "I lost my keys" is there "you lost your keys".
//
// A reassembly is one of:
//   text          a reply; a number in it stands for that element's words
//   =key          go on with the rules of that keyword
//   (pre text) =key   the same, on this text in place of the clause
//   (newkey)      go on with the next keyword of the clause
// Beyond 1966 stand the facts: what the user said of themselves earlier in the session. `{name}` in a reassembly is a fact, and
// the reassembly is passed over while that is unknown; one that opens with `(unless name)` is passed over once it is known.

/** A pattern and its reassemblies, which take turns. */
export type Rule = readonly [pattern: string, ...reassemblies: string[]];

/** A pattern and the one text that is made of it. */
export type Extract = readonly [pattern: string, text: string];

export interface Keyword {
  /** Of the keywords in a clause the highest rank is tried first; 0 when not given. */
  readonly rank?: number;
  /** The first whose pattern fits is used. */
  readonly rules: readonly Rule[];
}

export interface Script {
  /** A word that is `=another` has that one's rank and rules. One in capitals is never typed, only linked to. */
  readonly keywords: Readonly<Record<string, Keyword | `=${string}`>>;
  /** What is said when no keyword has led to a reply. Its patterns must fit anything. */
  readonly none: Rule;
  /** When this keyword is the highest of a message, one of the extracts (they take turns) is kept and said later. */
  readonly memory: { readonly keyword: string; readonly extracts: readonly Extract[] };
  /**
   * By the fact's name. The first extract that fits a clause counts; an empty text notes nothing. Each pattern holds at
   * least one plain word.
   */
  readonly facts: Readonly<Record<string, readonly Extract[]>>;
  /** Word classes: the words, parted by spaces. */
  readonly classes: Readonly<Record<string, string>>;
  /** Words replaced before keywords are looked for: spellings and contractions. */
  readonly spelling: Readonly<Record<string, string>>;
  /** Words, or phrases of up to three, replaced before patterns are tried: I and you. ` .` at the end is the clause's end. */
  readonly reflection: Readonly<Record<string, string>>;
}
