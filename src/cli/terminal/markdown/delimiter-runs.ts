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

export interface DelimiterScan {
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
  const delimiters: Delimiter[] = forced.map(({ mark, length }, index) => ({
    at: -1,
    mark,
    remaining: length,
    length,
    isLikely: true,
    forced: index,
  }));
  const brackets: number[] = [];
  let unclosed: OpenMark | null = null;
  for (let at = 0; at < text.length && unclosed === null; ) {
    const mark = text[at] ?? '';
    if (mark === '\\') at += 2;
    else if (mark === '`') {
      const length = runLength(text, at);
      const end = closingRun(text, at + length, length);
      if (end < 0) unclosed = { at, length, mark, isLikely: true };
      else at = end + length;
    } else if (mark === '<' && htmlStart.test(text[at + 1] ?? '')) {
      const end = text.indexOf('>', at);
      if (end < 0) unclosed = { at, length: 1, mark, isLikely: false };
      else at = end + 1;
    } else if (mark === '[') {
      brackets.push(at);
      at += 1;
    } else if (mark === ']' && brackets.length > 0) {
      const start = brackets.pop() ?? 0;
      if (text[at + 1] === '(') {
        const end = closingParenthesis(text, at + 2);
        if (end < 0) unclosed = { at: start, length: 1, mark: '[', isLikely: false };
        else {
          while ((delimiters.at(-1)?.at ?? -1) > start) delimiters.pop();
          at = end + 1;
        }
      } else at += 1;
    } else if (mark === '*' || mark === '_' || mark === '~') {
      const length = runLength(text, at);
      const closed = takeRun(text, at, length, delimiters);
      if (closed !== null) return { open: [], closed };
      at += length;
    } else at += 1;
  }
  const open: OpenMark[] = delimiters
    .filter(({ forced: index }) => index < 0)
    .map(({ at, length, mark, isLikely }) => ({ at, length, mark, isLikely }));
  for (const at of brackets) open.push({ at, length: 1, mark: '[', isLikely: false });
  if (unclosed !== null) open.push(unclosed);
  return { open: open.sort((one, other) => one.at - other.at), closed: null };
}

function takeRun(text: string, at: number, length: number, delimiters: Delimiter[]): DelimiterScan['closed'] {
  const mark = text[at] ?? '';
  if (mark === '~' && length > 2) return null;
  const before = characterBefore(text, at);
  const after = characterAt(text, at + length);
  const leftFlanking =
    !space.test(after) && (!punctuation.test(after) || space.test(before) || punctuation.test(before));
  const rightFlanking =
    !space.test(before) && (!punctuation.test(before) || space.test(after) || punctuation.test(after));
  const opens = leftFlanking && (mark !== '_' || !rightFlanking || punctuation.test(before));
  const closes = rightFlanking && (mark !== '_' || !leftFlanking || punctuation.test(after));
  let remaining = length;
  while (closes && remaining > 0) {
    const index = delimiters.findLastIndex(
      (one) =>
        one.mark === mark &&
        (one.forced < 0 || remaining >= one.length) &&
        (mark !== '~' || one.length === length),
    );
    const opener = delimiters[index];
    if (opener === undefined) break;
    if (opener.forced >= 0) return { index: opener.forced, at, length: opener.length };
    const closed = Math.min(remaining, opener.remaining);
    delimiters.length = index + (closed < opener.remaining ? 1 : 0);
    opener.remaining -= closed;
    remaining -= closed;
  }
  if (opens && remaining > 0) {
    const isLikely = length >= 2 && length <= 3 && !word.test(before) && !space.test(after);
    delimiters.push({ at, mark, remaining, length, isLikely, forced: -1 });
  }
  return null;
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
