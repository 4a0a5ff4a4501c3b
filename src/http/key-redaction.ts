// Removes a key from a text of another program. The key may be encoded, in another case, broken by spaces, or incomplete.

/** A shorter key is not searched, because it could be part of ordinary words. */
const minKeyLength = 8;
const redacted = '[key]';

/**
 * `%41`, even if encoded twice (`%2541`); `\u0041`; `\/` and `\"`; `&#65;` and `&#x41;`; white space and zero-width characters, which are
 * removed. Only the first of several backslashes begins a search, so that the time does not grow with the square of their number.
 */
const encodedCharacter =
  /%(?:25)*([\da-f]{2})|(?<!\\)\\+(?:u00([\da-f]{2})|([/"]))|&#x0*([\da-f]{2});?|&#0*(\d{2,3});?|[\s\u00ad\u200b-\u200d\u2060\ufeff]+/gi;

/** Replaces each part of the text that contains half of the key or more by `mark`. */
export function redactKey(text: string, key: string, mark = redacted): string {
  if (key.length < minKeyLength) return text;
  const { plain, startOf, endOf } = decode(text);
  const ranges = formsOf(key).flatMap((form) => rangesOf(form, plain));
  let result = '';
  let end = 0;
  let plainEnd = -1;
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    if (to <= plainEnd) continue;
    if (from >= plainEnd) result += text.slice(end, startOf(from)) + mark;
    plainEnd = to;
    end = endOf(to - 1);
  }
  return result + text.slice(end);
}

interface DecodedText {
  readonly plain: string;
  /** The offsets in the text where the character of `plain` at this index starts and ends. The index must not decrease from call to call. */
  startOf(index: number): number;
  endOf(index: number): number;
}

function decode(text: string): DecodedText {
  /** The end of each encoded or removed part, in the text and in `plain`. */
  const ends: { readonly text: number; readonly plain: number; readonly isCharacter: boolean }[] = [];
  let removedLength = 0;
  const plain = text.replace(encodedCharacter, (found, ...groups) => {
    const [percent, inJson, afterBackslash, hex, decimal] = groups as (string | undefined)[];
    const digits = percent ?? inJson ?? hex;
    const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
    const character =
      afterBackslash ?? (Number.isNaN(code) ? '' : String.fromCharCode(code).replace(/[\s\u00ad]/, ''));
    const end = (groups.at(-2) as number) + found.length;
    removedLength += found.length - character.length;
    ends.push({ text: end, plain: end - removedLength, isCharacter: character !== '' });
    return character;
  });
  let next = 0;
  const startOf = (index: number) => {
    while ((ends[next]?.plain ?? Number.POSITIVE_INFINITY) <= index) next += 1;
    const last = ends[next - 1];
    return last === undefined ? index : last.text + index - last.plain;
  };
  const endOf = (index: number) => {
    const start = startOf(index);
    const end = ends[next];
    return end?.isCharacter && end.plain === index + 1 ? end.text : start + 1;
  };
  return { plain: fold(plain), startOf, endOf };
}

/** The forms of the key in a decoded text: the key itself, reversed, in hexadecimal and in Base64. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key, 'latin1');
  const inBase64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // The characters at both ends also contain bits of the neighbouring text.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [key, [...key].reverse().join(''), bytes.toString('hex'), ...inBase64].map(fold);
}

/** Folds case and the two alphabets of Base64. */
function fold(text: string): string {
  return text
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/[-_]/g, (sign) => (sign === '-' ? '+' : '/'));
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The ranges of the text with half of the form or more. Each of them contains one of the pieces into which the form is divided. */
function rangesOf(form: string, text: string): readonly Range[] {
  const minLength = Math.max(minKeyLength, Math.ceil(form.length / 2));
  const size = Math.floor(minLength / 2);
  const ranges: Range[] = [];
  for (let piece = 0; piece + size <= form.length; piece += size) {
    const needle = form.slice(piece, piece + size);
    for (let at = text.indexOf(needle); at !== -1; ) {
      let before = 0;
      while (before < piece && before < at && form[piece - before - 1] === text[at - before - 1]) before += 1;
      let length = size;
      while (piece + length < form.length && form[piece + length] === text[at + length]) length += 1;
      const isMatch = before + length >= minLength;
      if (isMatch) ranges.push({ from: at - before, to: at + length });
      at = text.indexOf(needle, at + (isMatch ? length : 1));
    }
  }
  return ranges;
}
