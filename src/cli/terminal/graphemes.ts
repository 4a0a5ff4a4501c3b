// The graphemes of a text: what a reader sees as its characters.

/**
 * Divides a text. The first call takes 10 ms, in which ICU loads its rules. So no module calls it while it is loaded, and no caller for plain
 * text.
 */
export const segmentsOf = lazySegmenter();

/** Text in which each UTF-16 unit is a grapheme: most text of common scripts. */
const plainText =
  /^[ -~\xc0-\u02af\u0391-\u03c9\u2010-\u2027\u3001-\u3011\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]*$/;

/** The graphemes of a text without line ends. */
export function graphemesOf(text: string): readonly string[] {
  return plainText.test(text) ? [...text] : Array.from(segmentsOf(text), ({ segment }) => segment);
}

function lazySegmenter(): (text: string) => Intl.Segments {
  let segmenter: Intl.Segmenter | null = null;
  return (text) => {
    segmenter ??= new Intl.Segmenter();
    return segmenter.segment(text);
  };
}
