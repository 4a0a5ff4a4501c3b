// Finds line breaks inside a run without spaces: between ideographs and kana, by the main rules of Unicode Standard Annex 14. Hangul words are
// not broken, because Korean is written with spaces.
import { segmentsOf } from '../graphemes.ts';

/** Characters that never start a line: closing punctuation, small kana, marks of length and repetition. */
const neverFirst = new Set(
  '、。，．・：；？！）］｝〕〉》」』】〙〗’”…‥ーァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎ々〻゛゜％｠.,:;?!)]}%\'"',
);
/** Characters that never end a line: opening punctuation. */
const neverLast = new Set('（［｛〔〈《「『【〘〖‘“｟([{$');
/** Marks of Markdown. A cut beside one could change its meaning. */
const marks = new Set('\\`*_~[]<>()!&:@#|');
const joined = /^(?:\p{M}|\u200d|\ufe0e|\ufe0f)/u;
const joiner = '\u200d';

function isIdeographic(code: number): boolean {
  return (
    (code >= 0x2e80 && code <= 0x9fff) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff01 && code <= 0xff60) ||
    (code >= 0x20000 && code <= 0x3ffff)
  );
}

/** True if a line may break between two adjacent code points. */
export function mayBreakBetween(before: number, after: number): boolean {
  if (!isIdeographic(before) && !isIdeographic(after)) return false;
  const last = String.fromCodePoint(before);
  const first = String.fromCodePoint(after);
  return !neverLast.has(last) && !neverFirst.has(first) && mayCutBetween(last, first);
}

/** True if a run that is too long may be cut between two adjacent characters. */
function mayCutBetween(last: string, first: string): boolean {
  return !marks.has(last) && !marks.has(first) && !joined.test(first) && last !== joiner;
}

/** The number of units before a position that are examined. Real graphemes and character references are shorter. */
const context = 64;
const referenceBegun = /&[#\w]{0,32}$/;

/**
 * The last position, not before `first`, where a run that is too long may be cut: between two graphemes, not beside a mark, and not
 * inside a character reference. 0 if there is none.
 */
export function cutPosition(run: string, first: number): number {
  for (let at = run.length - 1; at > 0 && at >= first; at--) {
    const before = characterAt(run, at - (isPair(run, at - 2) ? 2 : 1));
    if (isPair(run, at - 1) || !mayCutBetween(before, characterAt(run, at))) continue;
    const from = Math.max(0, at - context);
    if (referenceBegun.test(run.slice(from, at))) continue;
    if (before < '\x80' && run.charCodeAt(at) < 0x80) return at;
    const found = segmentsOf(run.slice(from)).containing(at - from);
    if (found?.index === at - from) return at;
  }
  return 0;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
