// The terminal filter makes text that Parley did not write harmless to show. Characters that could move the cursor, set colours or the
// title, reorder or hide text become visible (`\x1b`, `\u{202e}`). CRLF becomes LF. output.ts decides what is filtered.

/**
 * C0 except newline and tab, DEL, C1, line and paragraph separators, bidirectional embeddings, overrides and isolates, tag characters,
 * and halves of a surrogate pair. The marks U+200E, U+200F and U+061C pass: ordinary right-to-left text contains them, and they reorder
 * only the neutral characters beside them. The expression is global, so use it only with `replace`; `test` would keep a position in it.
 * It has code points instead of `\p{…}`, because the Unicode tables of V8 would add a quarter of a millisecond to each start.
 */
export const dangerousCharacters =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

const anyDangerous = new RegExp(dangerousCharacters.source, 'u');
const lineEndOrDangerous = new RegExp(`\\r\\n|${dangerousCharacters.source}`, 'gu');

/** A filter for text that arrives in chunks. `push` holds back at most one character, until the next one arrives. */
export interface TextFilter {
  push(chunk: string): string;
  end(): string;
}

/** Filters a whole text. */
export function filterText(text: string): string {
  return anyDangerous.test(text) ? text.replace(lineEndOrDangerous, visibleForm) : text;
}

/** Filters a text for a place that has only one line. */
export function filterLine(text: string): string {
  return filterText(oneLine(text));
}

/** Filters text that arrives in chunks. Every way of splitting a text gives the same output. */
export function terminalFilter(): TextFilter {
  return new ChunkedFilter(/[\r\ud800-\udbff]/, filterText);
}

/** Changes nothing, but keeps the halves of a surrogate pair together, because each half alone would be encoded as U+FFFD. */
export function exactFilter(): TextFilter {
  return new ChunkedFilter(/[\ud800-\udbff]/, (text) => text);
}

/** Replaces line ends and tabs, for a place that has only one line. It is not a filter. */
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

function visibleForm(found: string): string {
  if (found === '\r\n') return '\n';
  const code = found.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
