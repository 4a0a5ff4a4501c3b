// Decomposition: parses a pattern of the script, and splits a clause by it.
import { ParleyError } from '../../../service/errors.ts';
import type { Word } from './clause.ts';

/** `0`, a count of words, or one word of a set. */
export type Element =
  | { readonly kind: 'any' }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'word'; readonly keys: ReadonlySet<string> };

const elementSource = /\(\*([^()*/]+)\)|\(\/([^()*/]+)\)|(\d+)|([^\s()]+)/y;

export function parsePattern(pattern: string, classes: Readonly<Record<string, string>>): readonly Element[] {
  const elements: Element[] = [];
  elementSource.lastIndex = 0;
  while (elementSource.lastIndex < pattern.length) {
    const match = elementSource.exec(pattern);
    if (match === null)
      throw new ParleyError('INTERNAL_ERROR', `ELIZA’s pattern “${pattern}” cannot be read.`);
    const [, words, tags, digits, word] = match;
    if (digits === '0') elements.push({ kind: 'any' });
    else if (digits !== undefined) elements.push({ kind: 'count', count: Number(digits) });
    else elements.push({ kind: 'word', keys: new Set(wordKeys(words ?? word, tags, classes)) });
    if (pattern[elementSource.lastIndex] === ' ') elementSource.lastIndex += 1;
  }
  return elements;
}

function wordKeys(
  words: string | undefined,
  tags: string | undefined,
  classes: Readonly<Record<string, string>>,
): readonly string[] {
  const listedWords =
    words ??
    (tags ?? '')
      .split(' ')
      .map((tag) => classOf(tag, classes))
      .join(' ');
  return listedWords.toLowerCase().split(' ');
}

function classOf(tag: string, classes: Readonly<Record<string, string>>): string {
  const words = classes[tag];
  if (words === undefined)
    throw new ParleyError('INTERNAL_ERROR', `ELIZA’s script has no word class “${tag}”.`);
  return words;
}

/** The words of each element, or null if the pattern does not fit the whole clause. */
export function decompose(
  elements: readonly Element[],
  words: readonly Word[],
): readonly (readonly Word[])[] | null {
  const ends: number[] = [];
  // A `0` that failed would be tried again only further to the right, where it also fails, so failed elements are remembered. Otherwise a
  // clause of one repeated word would take time exponential in the length of the pattern.
  const failed = new Set<number>();

  function fits(index: number, start: number): boolean {
    const element = elements[index];
    if (element === undefined) return start === words.length;
    if (element.kind === 'any') {
      for (let end = start; end <= words.length && !failed.has(index); end += 1) {
        ends[index] = end;
        if (fits(index + 1, end)) return true;
      }
      failed.add(index);
      return false;
    }
    const end = start + (element.kind === 'count' ? element.count : 1);
    if (end > words.length) return false;
    if (element.kind === 'word' && !element.keys.has(words[start]?.key ?? '')) return false;
    ends[index] = end;
    return fits(index + 1, end);
  }

  if (!fits(0, 0)) return null;
  return ends.map((end, index) => words.slice(ends[index - 1] ?? 0, end));
}
