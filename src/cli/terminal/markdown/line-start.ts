// Reads the start of a line: the open containers that it continues, the containers that it opens, and the kind of its text. It decides as soon
// as no later character can change the decision, but not earlier, so the result does not depend on how the line was split.
import type { Container, ItemContainer, LeafStart, LineStart, OpenLeaf, Undecided } from './blocks.ts';
import { isRule, isRuleBeginning, leafOf } from './leaf-start.ts';
import { LineCursor } from './line-cursor.ts';

interface LineContext {
  readonly containers: readonly Container[];
  readonly leaf: OpenLeaf;
  /** True if code needs whole lines because it is coloured. */
  readonly wholeCodeLines: boolean;
}

/** The marks of deeper containers are treated as text. */
const maxDepth = 24;

export function readLineStart(text: string, complete: boolean, state: LineContext): LineStart | Undecided {
  const cursor = new LineCursor(text, complete);
  const matched = matchContainers(cursor, state.containers);
  if (matched === null) return 'more';
  const all = matched === state.containers.length;
  if (all && state.leaf.kind === 'fence') return fenceLine(cursor, matched, state.leaf, state.wholeCodeLines);
  if (all && state.leaf.kind === 'html' && (state.leaf.end !== null || !cursor.isBlank)) {
    return { matched, opened: [], leaf: { kind: 'html-text', text: cursor.rest() } };
  }
  const opened: Container[] = [];
  for (;;) {
    const indent = cursor.indent();
    if (indent === null) return 'more';
    if (cursor.isBlank) return { matched, opened, leaf: { kind: 'blank' } };
    const continues = opened.length === 0 && (state.leaf.kind === 'paragraph' || state.leaf.kind === 'head');
    if (indent >= 4) {
      if (!continues) cursor.skipColumns(4);
      const text = cursor.rest();
      const leaf: LeafStart = continues
        ? { kind: 'paragraph', text: text.trimStart() }
        : { kind: 'indented-code', text };
      return { matched, opened, leaf };
    }
    const beginning = new Beginning(cursor, indent, continues && all);
    const container = matched + opened.length < maxDepth ? beginning.container() : null;
    if (container === 'more') return 'more';
    if (container === null) {
      const inside = all && opened.length === 0 ? state.leaf : ({ kind: 'none' } as const);
      const leaf = leafOf(beginning.text, indent, complete, inside);
      return typeof leaf === 'string' ? leaf : { matched, opened, leaf };
    }
    opened.push(container);
  }
}

/** The number of containers that the line continues. Null while that is undecided. */
function matchContainers(cursor: LineCursor, containers: readonly Container[]): number | null {
  for (const [index, container] of containers.entries()) {
    const indent = cursor.indent();
    if (indent === null) return null;
    if (container.kind === 'quote') {
      if (cursor.isBlank || indent > 3 || !cursor.rest().trimStart().startsWith('>')) return index;
      cursor.skipColumns(indent);
      if (!skipQuoteMark(cursor)) return null;
    } else if (!cursor.isBlank) {
      if (indent < container.indent) return index;
      cursor.skipColumns(container.indent);
    }
  }
  return containers.length;
}

/** Skips the mark and one column after it. False if that column has not arrived. */
function skipQuoteMark(cursor: LineCursor): boolean {
  cursor.skipCharacters(1);
  if (cursor.isAtEnd && !cursor.complete) return false;
  if (cursor.isAtSpace) cursor.skipColumns(1);
  return true;
}

function fenceLine(
  cursor: LineCursor,
  matched: number,
  fence: Extract<OpenLeaf, { kind: 'fence' }>,
  whole: boolean,
): LineStart | Undecided {
  const rest = cursor.rest();
  const end = /^ {0,3}(`+|~+)[ \t]*$/.exec(rest);
  const ends = end?.[1]?.[0] === fence.mark && (end[1]?.length ?? 0) >= fence.length;
  if (!cursor.complete) {
    if (whole) return 'line';
    const may = fence.mark === '`' ? /^ {0,3}`*[ \t]*$/ : /^ {0,3}~*[ \t]*$/;
    if (may.test(rest)) return 'more';
  }
  if (ends) return { matched, opened: [], leaf: { kind: 'fence-end', text: rest.trim() } };
  const indent = cursor.indent() ?? 0;
  cursor.skipColumns(Math.min(indent, fence.indent));
  return { matched, opened: [], leaf: { kind: 'code', text: cursor.rest() } };
}

/** The text after the indentation of a line, and the container that it may open. */
class Beginning {
  readonly #cursor: LineCursor;
  readonly #indent: number;
  readonly #inParagraph: boolean;
  readonly text: string;

  constructor(cursor: LineCursor, indent: number, inParagraph: boolean) {
    this.#cursor = cursor;
    this.#indent = indent;
    this.#inParagraph = inParagraph;
    this.text = cursor.rest().trimStart();
  }

  container(): Container | 'more' | null {
    if (this.text.startsWith('>')) {
      this.#cursor.skipColumns(this.#indent);
      return skipQuoteMark(this.#cursor) ? { kind: 'quote' } : 'more';
    }
    const { complete } = this.#cursor;
    const mark = this.text[0] ?? '';
    if ('-*_'.includes(mark) && isRuleBeginning(this.text)) {
      if (!complete) return 'more';
      if (isRule(this.text)) return null;
    }
    if (mark === '-' && this.#inParagraph && /^-+[ \t]*$/.test(this.text)) return complete ? null : 'more';
    return this.#item();
  }

  #item(): ItemContainer | 'more' | null {
    const cursor = this.#cursor;
    const { text } = this;
    if (!cursor.complete && /^(?:[-+*]|\d{1,9}[.)]?)$/.test(text)) return 'more';
    const found = /^(?:([-+*])|(\d{1,9})([.)]))(?=[ \t]|$)/.exec(text);
    if (found === null) return null;
    const [whole, bullet, digits, delimiter] = found;
    const number = digits === undefined ? null : Number(digits);
    if (this.#inParagraph) {
      if (number !== null && number !== 1) return null;
      const after = text.slice(whole.length).trim();
      if (after === '') return cursor.complete ? null : 'more';
    }
    cursor.skipColumns(this.#indent);
    cursor.skipCharacters(whole.length);
    const space = cursor.indent();
    if (space === null) return 'more';
    const width = this.#indent + whole.length;
    const blank = cursor.isBlank;
    const taken = blank || space > 4 ? 1 : space;
    cursor.skipColumns(taken);
    const done = this.#task();
    if (done === 'more') return 'more';
    return { kind: 'item', indent: width + taken, mark: bullet ?? delimiter ?? '', number, done };
  }

  #task(): boolean | null | 'more' {
    const rest = this.#cursor.rest();
    if (!this.#cursor.complete && /^\[?[ xX]?\]?$/.test(rest) && rest.length < 4) return 'more';
    const found = /^\[([ xX])\](?=[ \t])/.exec(rest);
    if (found === null) return null;
    this.#cursor.skipCharacters(3);
    this.#cursor.skipColumns(1);
    return found[1] !== ' ';
  }
}
