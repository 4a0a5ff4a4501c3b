// The graphemes of a text: what a reader sees as its characters.

/**
 * Divides a text. The first call takes 10 ms, in which ICU loads its rules. So no module calls it while it is loaded, and no caller for ASCII
 * alone.
 */
export const segmentsOf = lazySegmenter();

/** The graphemes of a text without line ends. */
export function graphemesOf(text: string): readonly string[] {
  return /^[ -~]*$/.test(text) ? [...text] : Array.from(segmentsOf(text), ({ segment }) => segment);
}

function lazySegmenter(): (text: string) => Intl.Segments {
  let segmenter: Intl.Segmenter | null = null;
  return (text) => {
    segmenter ??= new Intl.Segmenter();
    return segmenter.segment(text);
  };
}
