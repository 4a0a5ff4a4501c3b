// The terminal filter: text that Parley did not write, made harmless to show. What could move a cursor, colour, retitle,
// reorder or hide text becomes visible (`\x1b`, `\u{202e}`); CRLF becomes LF. Who filters what is decided in output.ts.

/**
 * C0 but newline and tab, DEL, C1, line and paragraph separators, bidirectional embeddings, overrides and isolates, tag
 * characters, and halves of a surrogate pair. The marks U+200E, U+200F and U+061C pass: they are part of honest right-to-left
 * text and can reorder only the neutral characters beside them. Global: for `replace` alone, `test` would keep a place in it.
 * By number: a first `\p{…}` has V8 fetch its tables of Unicode, a quarter of a millisecond of each start.
 */
export const dangerousCharacters =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

const anyDangerous = new RegExp(dangerousCharacters.source, 'u');
const lineEndOrDangerous = new RegExp(`\\r\\n|${dangerousCharacters.source}`, 'gu');

/** Text that arrives in chunks. What `push` may not decide yet, it holds back: at most one character. */
export interface TextFilter {
  push(chunk: string): string;
  end(): string;
}

/** A whole text, filtered. */
export function filterText(text: string): string {
  return anyDangerous.test(text) ? text.replace(lineEndOrDangerous, shown) : text;
}

/** The same over chunks: any cut of a text gives the same output. */
export function terminalFilter(): TextFilter {
  return new ChunkedFilter(/[\r\ud800-\udbff]/, filterText);
}

/** Changes nothing, but never lets a character be cut in two: each half alone would be encoded as U+FFFD. */
export function exactFilter(): TextFilter {
  return new ChunkedFilter(/[\ud800-\udbff]/, (text) => text);
}

/** Lines and columns of a text given up, for a place that has but one line. Not a filter. */
export function oneLine(text: string): string {
  return text.replace(/\r\n|[\t\n\r]/g, ' ');
}

class ChunkedFilter implements TextFilter {
  readonly #undecided: RegExp;
  readonly #filter: (text: string) => string;
  #held = '';

  constructor(undecided: RegExp, filter: (text: string) => string) {
    this.#undecided = undecided;
    this.#filter = filter;
  }

  push(chunk: string): string {
    const text = this.#held + chunk;
    const last = text.slice(-1);
    this.#held = this.#undecided.test(last) ? last : '';
    return this.#filter(this.#held === '' ? text : text.slice(0, -1));
  }

  end(): string {
    const rest = this.#filter(this.#held);
    this.#held = '';
    return rest;
  }
}

function shown(found: string): string {
  if (found === '\r\n') return '\n';
  const code = found.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
