// The widths of characters for the terminal emulator.
import stringWidth from 'string-width';

/** The emulator's own table is from 2010. Current terminals give an emoji two columns, even one of several code points. */
export const modernWidths = {
  version: 'modern',
  wcwidth: (codepoint: number): 0 | 1 | 2 => widthOf(codepoint),
  charProperties(codepoint: number, preceding: number): number {
    const width = widthOf(codepoint);
    const before = (preceding >> 1) & 3;
    const isPart =
      (preceding >> 3 === 0x200d && before === 2) ||
      /\p{Emoji_Modifier}/u.test(String.fromCodePoint(codepoint));
    const joins = preceding !== 0 && (width === 0 || isPart);
    return ((codepoint & 0xffffff) << 3) | ((joins ? before : width) << 1) | (joins ? 1 : 0);
  },
};

function widthOf(codepoint: number): 0 | 1 | 2 {
  return Math.min(2, stringWidth(String.fromCodePoint(codepoint))) as 0 | 1 | 2;
}
