// Measures how many columns a text takes. string-width is exact but slow, and its first measurement takes 20 ms, so common scripts are measured
// by code unit.
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { segmentsOf } from './graphemes.ts';

/** A longer text is measured in parts, because the segmenter copies its text at each step. */
const maxUnits = 1000;

export function textWidth(text: string): number {
  let width = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 && code < 0x7f) width += 1;
    else if ((code >= 0xc0 && code <= 0x2af) || (code >= 0x391 && code <= 0x3c9)) width += 1;
    else if ((code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3041 && code <= 0x3096)) width += 2;
    // Dashes, quotation marks, bullets and dots; lines and bars; the brackets around a hit.
    else if ((code >= 0x2010 && code <= 0x2027) || (code >= 0x2500 && code <= 0x259f)) width += 1;
    else if (code === 0x27e6 || code === 0x27e7) width += 1;
    else if ((code >= 0x30a1 && code <= 0x30fa) || (code >= 0x3001 && code <= 0x3011)) width += 2;
    // Any other character may combine with the one before it.
    else return exactWidth(text);
  }
  return width;
}

function exactWidth(text: string): number {
  if (text.length <= maxUnits) return stringWidth(text);
  const plain = stripVTControlCharacters(text);
  let width = 0;
  for (let at = 0; at < plain.length; ) {
    const part = plain.slice(at, at + maxUnits);
    // The last grapheme of a part may continue after it, and its last unit may be half of a character.
    const isLast = at + part.length === plain.length;
    const end = (isLast ? 0 : segmentsOf(part).containing(part.length - 2)?.index) || part.length;
    width += stringWidth(part.slice(0, end));
    at += end;
  }
  return width;
}

/** An upper bound, which is fast to compute: a character outside the scripts of single width counts as two columns. */
export function maxColumns(text: string): number {
  let columns = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // The first half of a surrogate pair counts for both.
    if (code < 0x1100 || (code >= 0x1160 && code < 0x2300)) columns += 1;
    else if (code < 0xdc00 || code > 0xdfff) columns += 2;
  }
  return columns;
}
