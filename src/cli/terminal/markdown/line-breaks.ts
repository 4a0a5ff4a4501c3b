// Where a line may break inside a run without spaces: between ideographs and kana, as Unicode's annex 14 has it in the main.
// Hangul is left whole, as Korean is written with spaces.

/** Never at the start of a line: closing punctuation, small kana, the marks of length and repetition. */
const neverFirst = new Set(
  '、。，．・：；？！）］｝〕〉》」』】〙〗’”…‥ーァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎ々〻゛゜％｠.,:;?!)]}%\'"',
);
/** Never at the end of one: opening punctuation. */
const neverLast = new Set('（［｛〔〈《「『【〘〖‘“｟([{$');
/** What Markdown may read; a cut beside it could change the reading. */
const marks = new Set('\\`*_~[]<>()!&:@#|');
const joined = /^(?:\p{M}|\u200d|\ufe0e|\ufe0f)/u;

function isIdeographic(code: number): boolean {
  return (
    (code >= 0x2e80 && code <= 0x9fff) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff01 && code <= 0xff60) ||
    (code >= 0x20000 && code <= 0x3ffff)
  );
}

/** Whether a line may break between two characters that no space parts; both as code points. */
export function mayBreakBetween(before: number, after: number): boolean {
  if (!isIdeographic(before) && !isIdeographic(after)) return false;
  const last = String.fromCodePoint(before);
  const first = String.fromCodePoint(after);
  if (neverLast.has(last) || neverFirst.has(first)) return false;
  return !marks.has(last) && !marks.has(first) && !joined.test(first) && before !== 0x200d;
}

/** What is looked at of a text before a place: no character as a person sees it, nor a reference, is longer in earnest. */
const context = 64;
const referenceBegun = /&[#\w]{0,32}$/;
const segmenter = new Intl.Segmenter();

/**
 * The last place, from `first` on, where a run that is too long may be cut: between two characters as a person sees them, and where
 * it changes no reading, so not beside a mark and not within a character reference. 0: there is none.
 */
export function cutPlace(run: string, first: number): number {
  for (let at = run.length - 1; at > 0 && at >= first; at--) {
    const before = run.codePointAt(at - (isPair(run, at - 2) ? 2 : 1)) ?? 0;
    if (isPair(run, at - 1) || !mayCutBetween(before, run.codePointAt(at) ?? 0)) continue;
    const from = Math.max(0, at - context);
    if (referenceBegun.test(run.slice(from, at))) continue;
    if (before < 0x80 && run.charCodeAt(at) < 0x80) return at;
    const found = segmenter.segment(run.slice(from)).containing(at - from);
    if (found?.index === at - from) return at;
  }
  return 0;
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

function mayCutBetween(before: number, after: number): boolean {
  const first = String.fromCodePoint(after);
  return (
    !marks.has(String.fromCodePoint(before)) && !marks.has(first) && !joined.test(first) && before !== 0x200d
  );
}
