// The text of a line that is being edited: the positions of graphemes, words and lines, and the private units that represent folded pastes
// and literal characters. The functions are pure. Offsets count UTF-16 units.
import { lastWordStart } from '../end-of-text.ts';
import { segmentsOf } from '../terminal/graphemes.ts';

/**
 * A lone low surrogate is a private unit. Typed and pasted text is decoded UTF-8 and never contains one, and `Intl.Segmenter` treats it
 * as a grapheme of its own. The units below `firstLiteral` are folded pastes, by number.
 */
const firstFold = 0xdc00;
const firstLiteral = 0xdff0;
export const maxFolds = firstLiteral - firstFold;

/** The characters with a special meaning in a typed line. A pasted one is stored as the private unit with its index, and has no meaning. */
const specialCharacters = '/"\\ \t\n@';
/** The slash that prevents a recalled text from being a command. It is shown as a slash and is not a part of the message. */
export const escapeSlash = String.fromCharCode(firstLiteral + specialCharacters.length);

/** A text of this many lines or characters is folded. */
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

/** Replaces each special character by its private unit. Offsets stay the same. */
export function literal(text: string): string {
  return text.replace(/[/"\\ \t\n@]/g, (character) =>
    String.fromCharCode(firstLiteral + specialCharacters.indexOf(character)),
  );
}

/** The text as it is shown: literal characters are replaced, folds stay. Offsets stay the same. */
export function plain(text: string): string {
  return text.replace(
    /[\udff0-\udff7]/gu,
    (unit) => specialCharacters[unit.charCodeAt(0) - firstLiteral] ?? '/',
  );
}

/** The text with each fold replaced by its paste, as literal text. */
export function expandFolds(text: string, pastes: readonly string[]): string {
  return text.replace(/[\udc00-\udfef]/gu, (fold) => literal(pastes[fold.charCodeAt(0) - firstFold] ?? ''));
}

/** The whole text, for a message. */
export function unfoldText(text: string, pastes: readonly string[]): string {
  return plain(text).replace(/[\udc00-\udfef]/gu, (fold) => pastes[fold.charCodeAt(0) - firstFold] ?? '');
}

/** The label that the screen shows for a fold. Null for any other character. */
export function foldLabel(character: string, pastes: readonly string[]): string | null {
  if (character.length !== 1) return null;
  const code = character.charCodeAt(0);
  if (code < firstFold || code >= firstLiteral) return null;
  const paste = pastes[code - firstFold] ?? '';
  let lines = 1;
  for (
    let end = paste.indexOf('\n');
    end !== -1 && end < paste.length - 1;
    end = paste.indexOf('\n', end + 1)
  )
    lines += 1;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${paste.length} characters]`;
}

/** The text with LF line ends. Terminals send a carriage return for each line end of a paste. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** The length (UTF-16 units) of the text that the segmenter receives first. It is short, because the segmenter copies it at each step. */
const segmentedLength = 64;

/** The start of the grapheme before an offset. */
export function characterBefore(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  // Most characters are ASCII. Combining marks and parts of emojis are not.
  if (at > 1 && before < 0x80 && text.charCodeAt(at - 2) < 0x80) return at - 1;
  const first = Math.max(text.lastIndexOf('\n', at - 1), 0);
  for (let length = segmentedLength; ; length *= 2) {
    const from = offsetBeforeFlags(text, Math.max(first, at - length));
    let start = at;
    for (const { index } of segmentsOf(text.slice(from, at))) start = from + index;
    if (start > from || from <= first) return Math.max(0, start);
  }
}

/** An offset at or before this one that is neither inside a surrogate pair nor in a row of flags, which are pairs of regional indicators. */
function offsetBeforeFlags(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && isHalfOfFlag(text.charCodeAt(at))) at--;
  return at > 0 && isLow(text.charCodeAt(at)) ? at - 1 : at;
}

function isHalfOfFlag(unit: number): boolean {
  return unit === 0xd83c || (unit >= 0xdde6 && unit <= 0xddff);
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The end of the grapheme after an offset. */
export function characterAfter(text: string, at: number): number {
  if (text.charCodeAt(at) < 0x80 && !(text.charCodeAt(at + 1) >= 0x80)) return at + 1;
  for (let length = segmentedLength; ; length *= 2) {
    const [first] = segmentsOf(text.slice(at, at + length));
    const end = at + (first?.segment.length ?? 0);
    if (end < at + length || end >= text.length) return end;
  }
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

/** The start of the text that Ctrl-W removes: after the white space before the word. */
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
