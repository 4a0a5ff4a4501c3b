// Finds the delimiter runs and brackets that are open at the end of a piece of inline Markdown, because later text decides their meaning. The
// rules are a part of those of CommonMark 0.31, section 6.2. marked parses the text that is settled.

/** A style that is already on although its closing run has not arrived. */
export interface ForcedSpan {
  readonly mark: '*' | '_' | '~' | '`';
  readonly length: number;
}

export interface OpenMark {
  readonly at: number;
  readonly length: number;
  readonly mark: string;
  /** True if the run probably starts a long span and is not literal text. */
  readonly isLikely: boolean;
}

interface DelimiterScan {
  /** In order of position. The text before the first one is settled. */
  readonly open: readonly OpenMark[];
  /** The end of the innermost forced span that can be closed: its index, and the run that closes it. */
  readonly closed: { readonly index: number; readonly at: number; readonly length: number } | null;
}

interface Delimiter {
  readonly at: number;
  readonly mark: string;
  /** The number of characters of the run that are not closed yet. */
  remaining: number;
  readonly length: number;
  readonly isLikely: boolean;
  readonly forced: number;
}

const space = /^\s?$/;
const punctuation = /^[\p{P}\p{S}]$/u;
const word = /^[\p{L}\p{N}]$/u;
const htmlStart = /^[A-Za-z/!?]$/;

/** `text` must end where a word ends: after white space, or between two ideographs. */
export function scanDelimiterRuns(text: string, forced: readonly ForcedSpan[]): DelimiterScan {
  const last = forced.at(-1);
  if (last?.mark === '`') {
    const at = closingRun(text, 0, last.length);
    return {
      open: [],
      closed: at < 0 ? null : { index: forced.length - 1, at, length: last.length },
    };
  }
  return new DelimiterScanner(text, forced).scan();
}

class DelimiterScanner {
  readonly #text: string;
  readonly #delimiters: Delimiter[];
  /** The positions of `[` that are not closed. */
  readonly #brackets: number[] = [];
  #at = 0;
  /** The code, HTML or link target that does not end in the text. Nothing after its start can be decided. */
  #unclosed: OpenMark | null = null;

  constructor(text: string, forced: readonly ForcedSpan[]) {
    this.#text = text;
    this.#delimiters = forced.map(({ mark, length }, index) => ({
      at: -1,
      mark,
      remaining: length,
      length,
      isLikely: true,
      forced: index,
    }));
  }

  scan(): DelimiterScan {
    while (this.#at < this.#text.length && this.#unclosed === null) {
      const closed = this.#step();
      if (closed !== null) return { open: [], closed };
    }
    const open: OpenMark[] = this.#delimiters
      .filter(({ forced: index }) => index < 0)
      .map(({ at, length, mark, isLikely }) => ({ at, length, mark, isLikely }));
    for (const at of this.#brackets) open.push({ at, length: 1, mark: '[', isLikely: false });
    if (this.#unclosed !== null) open.push(this.#unclosed);
    return { open: open.sort((one, other) => one.at - other.at), closed: null };
  }

  /** Handles the next mark or character. Returns the forced span that it closes. */
  #step(): DelimiterScan['closed'] {
    const mark = this.#text[this.#at] ?? '';
    switch (mark) {
      case '`':
        this.#code();
        return null;
      case '*':
      case '_':
      case '~':
        return this.#run(mark);
      case '<':
        this.#html();
        return null;
      case '[':
        this.#brackets.push(this.#at);
        break;
      case ']':
        this.#closeBracket();
        return null;
      case '\\':
        // The next character is literal.
        this.#at += 1;
    }
    this.#at += 1;
    return null;
  }

  #code(): void {
    const length = runLength(this.#text, this.#at);
    const end = closingRun(this.#text, this.#at + length, length);
    if (end < 0) this.#unclosed = { at: this.#at, length, mark: '`', isLikely: true };
    else this.#at = end + length;
  }

  #html(): void {
    const isHtml = htmlStart.test(this.#text[this.#at + 1] ?? '');
    const end = isHtml ? this.#text.indexOf('>', this.#at) : this.#at;
    if (end < 0) this.#unclosed = { at: this.#at, length: 1, mark: '<', isLikely: false };
    else this.#at = end + 1;
  }

  /** A link hides the delimiters inside its text. */
  #closeBracket(): void {
    const start = this.#brackets.pop();
    const isLink = start !== undefined && this.#text[this.#at + 1] === '(';
    const end = isLink ? closingParenthesis(this.#text, this.#at + 2) : this.#at;
    if (start !== undefined && end < 0) {
      this.#unclosed = { at: start, length: 1, mark: '[', isLikely: false };
      return;
    }
    if (isLink) while ((this.#delimiters.at(-1)?.at ?? -1) > start) this.#delimiters.pop();
    this.#at = end + 1;
  }

  /** A run may close earlier runs, and what remains of it may open a span. */
  #run(mark: string): DelimiterScan['closed'] {
    const at = this.#at;
    const length = runLength(this.#text, at);
    this.#at += length;
    if (mark === '~' && length > 2) return null;
    const before = characterBefore(this.#text, at);
    const after = characterAt(this.#text, at + length);
    const { opens, closes } = flanking(mark, before, after);
    let remaining = length;
    while (closes && remaining > 0) {
      const index = this.#delimiters.findLastIndex(
        (one) =>
          one.mark === mark &&
          (one.forced < 0 || remaining >= one.length) &&
          (mark !== '~' || one.length === length),
      );
      const opener = this.#delimiters[index];
      if (opener === undefined) break;
      if (opener.forced >= 0) return { index: opener.forced, at, length: opener.length };
      const closed = Math.min(remaining, opener.remaining);
      this.#delimiters.length = index + (closed < opener.remaining ? 1 : 0);
      opener.remaining -= closed;
      remaining -= closed;
    }
    if (opens && remaining > 0) {
      const isLikely = length >= 2 && length <= 3 && !word.test(before) && !space.test(after);
      this.#delimiters.push({ at, mark, remaining, length, isLikely, forced: -1 });
    }
    return null;
  }
}

/** Whether a run can open or close a span, from the characters beside it. */
function flanking(mark: string, before: string, after: string): { opens: boolean; closes: boolean } {
  const isLeft =
    !space.test(after) && (!punctuation.test(after) || space.test(before) || punctuation.test(before));
  const isRight =
    !space.test(before) && (!punctuation.test(before) || space.test(after) || punctuation.test(after));
  return {
    opens: isLeft && (mark !== '_' || !isRight || punctuation.test(before)),
    closes: isRight && (mark !== '_' || !isLeft || punctuation.test(after)),
  };
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

function closingRun(text: string, from: number, length: number): number {
  for (let at = text.indexOf('`', from); at >= 0; ) {
    const found = runLength(text, at);
    if (found === length) return at;
    at = text.indexOf('`', at + found);
  }
  return -1;
}

function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const mark = text[at];
    if (mark === '\\') at += 1;
    else if (mark === '(') depth += 1;
    else if (mark === ')' && --depth === 0) return at;
  }
  return -1;
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function characterBefore(text: string, at: number): string {
  if (at === 0) return '';
  const code = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && at > 1 ? text.slice(at - 2, at) : text.charAt(at - 1);
}
