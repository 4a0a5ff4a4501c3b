// One conversation with ELIZA: the procedure of Weizenbaum's paper (see script.ts) over a script. The state of the dialogue (the turn of
// each reassembly, memories, facts, the counter) follows from the messages alone, so the same messages give the same replies.
import { readClauses, readWords, type Word } from './clause.ts';
import { decompose, type Element, parsePattern } from './pattern.ts';
import { fill, isAvailable, parseReassembly, type Reassembly } from './reassembly.ts';
import type { Extract, Keyword, Rule, Script } from './script.ts';
import { Substitution } from './substitution.ts';

type Parts = readonly (readonly Word[])[];

// LIMIT in the program of 1966. The counter runs from 1 to 4 and starts again. A memory is used only at 4.
const recallLimit = 4;
// A script may contain a cycle of links. After this many links, the keyword has no reply.
const maxLinks = 20;

export class Dialogue {
  readonly #script: Script;
  readonly #spelling: Substitution;
  readonly #reflection: Substitution;
  readonly #patterns = new Map<string, readonly Element[]>();
  readonly #turns = new Map<Rule, number>();
  readonly #facts = new Map<string, string>();
  readonly #factWords: ReadonlySet<string>;
  readonly #memories: string[] = [];
  #memoryTurn = 0;
  #limit = 1;

  constructor(script: Script) {
    this.#script = script;
    this.#spelling = new Substitution(script.spelling);
    this.#reflection = new Substitution(script.reflection);
    this.#factWords = new Set(
      Object.values(script.facts)
        .flat()
        .map(([pattern]) => longestWord(pattern)),
    );
  }

  respond(message: string): string {
    this.#limit = (this.#limit % recallLimit) + 1;
    const clauses = readClauses(message).map((words) => this.#spelling.apply(words));
    const reflectedClauses = clauses.map((words) => this.#reflection.apply(words));
    for (const words of reflectedClauses) this.#noteFacts(words);

    const { index, stack } = this.#chooseClause(clauses);
    const words = reflectedClauses[index] ?? [];
    if (stack.length === 0) return this.#recall() ?? this.#none(words);
    if (stack[0] === this.#script.memory.keyword) this.#memorise(words);
    return this.#transform(stack, words) ?? this.#none(words);
  }

  /** The first clause that contains a keyword. All other clauses are ignored. */
  #chooseClause(clauses: readonly (readonly Word[])[]): {
    readonly index: number;
    readonly stack: readonly string[];
  } {
    for (const [index, words] of clauses.entries()) {
      const stack = this.#stackKeywords(words);
      if (stack.length > 0) return { index, stack };
    }
    return { index: clauses.length - 1, stack: [] };
  }

  /** A keyword with a higher rank than all before it goes to the top of the stack, any other to the bottom. */
  #stackKeywords(words: readonly Word[]): readonly string[] {
    const stack: string[] = [];
    let highestRank = -1;
    for (const { key } of words) {
      const keyword = this.#keyword(key);
      if (keyword === null || stack.includes(key)) continue;
      const rank = keyword.rank ?? 0;
      if (rank > highestRank) stack.unshift(key);
      else stack.push(key);
      highestRank = Math.max(highestRank, rank);
    }
    return stack;
  }

  #keyword(key: string): Keyword | null {
    const { keywords } = this.#script;
    const ofWord = (word: string) => (Object.hasOwn(keywords, word) ? keywords[word] : null);
    let keyword = ofWord(key);
    for (let links = 0; typeof keyword === 'string' && links < maxLinks; links += 1) {
      keyword = ofWord(keyword.slice(1));
    }
    return typeof keyword === 'object' ? keyword : null;
  }

  /** The reply of the first keyword that has one, from the top of the stack down. Null if there is none. */
  #transform(stack: readonly string[], clause: readonly Word[]): string | null {
    const waiting = [...stack];
    let words = clause;
    let key = waiting.shift();
    let links = 0;
    while (key !== undefined && links < maxLinks) {
      const match = this.#applyRules(this.#keyword(key)?.rules ?? [], words);
      if (match === null || match.reassembly.kind === 'newkey') {
        key = waiting.shift();
        continue;
      }
      const { reassembly, parts } = match;
      if (reassembly.kind === 'text') return fill(reassembly.text, parts, this.#facts);
      if (reassembly.text !== null) words = readWords(fill(reassembly.text, parts, this.#facts));
      key = reassembly.key;
      links += 1;
    }
    return null;
  }

  #applyRules(
    rules: readonly Rule[],
    words: readonly Word[],
  ): { readonly reassembly: Reassembly; readonly parts: Parts } | null {
    for (const rule of rules) {
      const parts = this.#decompose(rule[0], words);
      const reassembly = parts === null ? null : this.#nextReassembly(rule);
      if (parts !== null && reassembly !== null) return { reassembly, parts };
    }
    return null;
  }

  #nextReassembly(rule: Rule): Reassembly | null {
    const [, ...reassemblies] = rule;
    const turn = this.#turns.get(rule) ?? 0;
    for (let offset = 0; offset < reassemblies.length; offset += 1) {
      const index = (turn + offset) % reassemblies.length;
      const reassembly = parseReassembly(reassemblies[index] ?? '');
      if (!isAvailable(reassembly, this.#facts)) continue;
      this.#turns.set(rule, index + 1);
      return reassembly;
    }
    return null;
  }

  #none(words: readonly Word[]): string {
    const match = this.#applyRules([this.#script.none], words);
    return match?.reassembly.kind === 'text' ? fill(match.reassembly.text, match.parts, this.#facts) : '';
  }

  /** The oldest memory, if the counter allows one now. */
  #recall(): string | null {
    return this.#limit === recallLimit ? (this.#memories.shift() ?? null) : null;
  }

  #memorise(words: readonly Word[]): void {
    const { extracts } = this.#script.memory;
    for (let offset = 0; offset < extracts.length; offset += 1) {
      const index = (this.#memoryTurn + offset) % extracts.length;
      const extract = extracts[index];
      const memory = extract === undefined ? null : this.#extract(extract, words);
      if (memory === null) continue;
      this.#memories.push(memory);
      this.#memoryTurn = index + 1;
      return;
    }
  }

  #noteFacts(words: readonly Word[]): void {
    // Few clauses contain a fact, and a long session has many clauses. One lookup of their words avoids trying the patterns.
    if (!words.some(({ key }) => this.#factWords.has(key))) return;
    for (const [name, extracts] of Object.entries(this.#script.facts)) {
      for (const extract of extracts) {
        const fact = this.#extract(extract, words);
        if (fact === null) continue;
        if (fact !== '') this.#facts.set(name, fact);
        break;
      }
    }
  }

  #extract([pattern, text]: Extract, words: readonly Word[]): string | null {
    const parts = this.#decompose(pattern, words);
    return parts === null ? null : fill(text, parts, this.#facts);
  }

  #decompose(pattern: string, words: readonly Word[]): Parts | null {
    let elements = this.#patterns.get(pattern);
    if (elements === undefined) {
      elements = parsePattern(pattern, this.#script.classes);
      this.#patterns.set(pattern, elements);
    }
    return decompose(elements, words);
  }
}

/** The longest word of a pattern, which is the least likely to occur in a clause by chance. */
function longestWord(pattern: string): string {
  return pattern
    .split(' ')
    .reduce(
      (longest, word) => (word.length > longest.length && /^[^()\d]+$/.test(word) ? word : longest),
      '',
    );
}
