// The text of a line that is being edited: where characters, words and lines begin, and how a long paste stands in it as one
// character. Pure functions of text and offset (UTF-16 units).
import { lastWordStart } from '../end-of-text.ts';

/**
 * A folded paste is the lone half of a surrogate pair, DC00 and its number: text that was typed or pasted is decoded UTF-8 and
 * never holds one, and to `Intl.Segmenter` it is a character of its own.
 */
const firstFold = 0xdc00;
const folded = /[\udc00-\udfff]/gu;
export const mostFolds = 0x3ff;

/** Lines and characters from which a text is shown folded. */
export interface FoldSize {
  readonly lines: number;
  readonly characters: number;
}

export function isLong(text: string, size: FoldSize): boolean {
  return text.length >= size.characters || text.split('\n', size.lines).length >= size.lines;
}

export function foldOf(index: number): string {
  return String.fromCharCode(firstFold + index);
}

/** The whole text, each fold replaced by its paste. */
export function unfolded(text: string, pastes: readonly string[]): string {
  return text.replace(folded, (fold) => pastes[fold.charCodeAt(0) - firstFold] ?? '');
}

/** What marks each unit of a text, for the whole text. */
export function unfoldedMarks(text: string, marks: string, pastes: readonly string[]): string {
  let whole = '';
  let done = 0;
  for (const { 0: fold, index } of text.matchAll(folded)) {
    const { length } = unfolded(fold, pastes);
    whole += marks.slice(done, index) + marks.charAt(index).repeat(length);
    done = index + 1;
  }
  return whole + marks.slice(done);
}

/** What stands for a fold on the screen; null for any other character. */
export function foldLabel(character: string, pastes: readonly string[]): string | null {
  if (character.length !== 1) return null;
  const code = character.charCodeAt(0);
  if (code < firstFold || code > firstFold + mostFolds) return null;
  const paste = pastes[code - firstFold] ?? '';
  const lines = paste.replace(/\n$/, '').split('\n').length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${paste.length} characters]`;
}

/** Text as a message carries it: terminals send a carriage return for each line end of a paste. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** The start of the character before an offset, as a person sees characters. */
export function characterBefore(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  // By far the most; a combining mark or the rest of an emoji is not among these.
  if (at > 1 && before < 0x80 && text.charCodeAt(at - 2) < 0x80) return at - 1;
  const from = Math.max(text.lastIndexOf('\n', at - 1), 0);
  let start = at;
  for (const { index } of new Intl.Segmenter().segment(text.slice(from, at))) start = from + index;
  return Math.max(0, start);
}

export function characterAfter(text: string, at: number): number {
  for (const { segment } of new Intl.Segmenter().segment(text.slice(at))) return at + segment.length;
  return at;
}

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

export function wordBefore(text: string, at: number): number {
  let start = at;
  while (start > 0 && !wordCharacter.test(text.slice(characterBefore(text, start), start)))
    start = characterBefore(text, start);
  while (start > 0 && wordCharacter.test(text.slice(characterBefore(text, start), start)))
    start = characterBefore(text, start);
  return start;
}

export function wordAfter(text: string, at: number): number {
  let end = at;
  while (end < text.length && !wordCharacter.test(text.slice(end, characterAfter(text, end))))
    end = characterAfter(text, end);
  while (end < text.length && wordCharacter.test(text.slice(end, characterAfter(text, end))))
    end = characterAfter(text, end);
  return end;
}

/** What Ctrl-W takes: back to white space. */
export function blankBefore(text: string, at: number): number {
  return lastWordStart(text.slice(0, at));
}

export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
