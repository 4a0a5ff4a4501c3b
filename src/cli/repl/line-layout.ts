// Computes the layout of a line on a screen of a given width: its rows, and the position of the cursor. The functions are pure.
// line-painter.ts draws the rows.
import { filterText } from '../terminal/filter.ts';
import type { Measure } from '../terminal/table.ts';
import { type OutputText, sequencesOf } from '../terminal/terminal-text.ts';
import type { LineState } from './line-state.ts';
import { characterAfter, foldLabel } from './line-text.ts';

/** Returns the prompt for a terminal of this width. */
export type PromptFor = (columns: number) => Prompt;

/** The text before the line. `styled` is the shown text. It has the same width as `text`. */
export interface Prompt {
  readonly text: string;
  readonly styled: OutputText;
}

export interface Row {
  readonly text: string;
  readonly width: number;
  /** False if the terminal itself wraps to the next row. It may then also join both rows again when it is resized. */
  readonly ends: boolean;
  /** The offset in the text at which the row begins. Null for a row that begins inside a part, such as the label of a fold. */
  readonly from: number | null;
}

export interface Layout {
  /** The rows, up to the requested number of rows below the cursor. */
  readonly rows: readonly Row[];
  readonly cursor: Place;
  readonly end: Place;
}

/** The layout before a change. The rows above the change are reused. */
export interface EarlierLayout {
  readonly prompt: Prompt;
  readonly line: ShownLine;
  readonly columns: number;
  readonly layout: Layout;
}

interface LayoutOptions {
  readonly columns: number;
  readonly measure: Measure;
  /** Rows further than this below the cursor are omitted. */
  readonly maxRowsBelow?: number;
  readonly earlier?: EarlierLayout | null;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

const indent = '  ';
const tab = '    ';
/** The end column of a layout whose last rows are clipped. It equals no column, so the cursor is always moved to its position. */
const unknownColumn = -1;

/** The line that is shown. During Ctrl-R it is the found line. */
export type ShownLine = Pick<LineState, 'text' | 'cursor' | 'pastes'>;

export function layOut(prompt: Prompt, line: ShownLine, options: LayoutOptions): Layout {
  const { columns, measure, maxRowsBelow = Number.POSITIVE_INFINITY, earlier = null } = options;
  const rows = earlier === null ? [] : reusableRows(earlier, prompt, line, columns);
  const start = earlier?.layout.rows[rows.length]?.from ?? 0;
  const builder = new LayoutBuilder({ prompt, line, columns, measure, rows, start });
  for (const part of partsOf(line.text, start)) {
    builder.put(part);
    if (builder.rowsBelowCursor > maxRowsBelow) return builder.unfinished();
  }
  return builder.finish();
}

interface BuilderOptions extends Pick<LayoutOptions, 'columns' | 'measure'> {
  readonly prompt: Prompt;
  readonly line: ShownLine;
  /** The reused rows. The builder adds to them. */
  readonly rows: Row[];
  /** The offset in the text at which the first new row begins. */
  readonly start: number;
}

/** Puts the parts of a line into rows, one after the other, and finds the position of the cursor. */
class LayoutBuilder {
  readonly #line: ShownLine;
  readonly #columns: number;
  readonly #measure: Measure;
  readonly #rows: Row[];
  /** The row that has not ended: its text, its width, and where it begins. */
  #text: string;
  #column: number;
  #from: number | null;
  /** The offset of the next part. */
  #at: number;
  #cursor: Place | null = null;

  constructor({ prompt, line, columns, measure, rows, start }: BuilderOptions) {
    this.#line = line;
    this.#columns = columns;
    this.#measure = measure;
    this.#rows = rows;
    const last = rows.at(-1);
    this.#text = last === undefined ? sequencesOf(prompt.styled) : last.ends ? indent : '';
    this.#column = last === undefined ? measure(prompt.text) : this.#text.length;
    this.#from = start;
    this.#at = start;
  }

  get rowsBelowCursor(): number {
    return this.#cursor === null ? 0 : this.#rows.length - this.#cursor.row;
  }

  put(part: string): void {
    if (part === '\n') this.#putLineEnd();
    else if (isAscii(part)) this.#putAscii(part);
    else this.#putGrapheme(part);
    this.#at += part.length;
  }

  /** The layout of the rows so far, without the row that has not ended. */
  unfinished(): Layout {
    return this.#layout({ row: this.#rows.length, column: 0 });
  }

  finish(): Layout {
    if (this.#cursor === null) this.#placeCursor(1);
    if (this.#column >= this.#columns) this.#endRow(false, this.#at);
    const end = { row: this.#rows.length, column: this.#column };
    this.#endRow(true, null);
    return this.#layout(end);
  }

  #layout(end: Place): Layout {
    return { rows: this.#rows, cursor: this.#cursor ?? { row: 0, column: 0 }, end };
  }

  #putLineEnd(): void {
    // After the last column there is no room for the cursor, so it is shown on the next row.
    if (this.#at === this.#line.cursor) this.#placeCursor(1);
    this.#endRow(true, this.#at + 1);
    this.#text = indent;
    this.#column = indent.length;
  }

  /** ASCII text takes one column a character, so it is added row by row. */
  #putAscii(text: string): void {
    for (let done = 0; done < text.length; ) {
      if (this.#column >= this.#columns && this.#column > 0) this.#endRow(false, this.#at + done);
      const count = Math.min(Math.max(1, this.#columns - this.#column), text.length - done);
      const offset = this.#line.cursor - this.#at - done;
      if (offset >= 0 && offset < count)
        this.#cursor = { row: this.#rows.length, column: this.#column + offset };
      this.#text += text.slice(done, done + count);
      this.#column += count;
      done += count;
    }
  }

  #putGrapheme(grapheme: string): void {
    const { cursor, pastes } = this.#line;
    const label = foldLabel(grapheme, pastes);
    const shown = label ?? (grapheme === '\t' ? tab : filterText(grapheme));
    const pieces = shown === grapheme ? [grapheme] : [...shown];
    // A cursor inside an emoji of several parts is shown before the emoji.
    if (cursor >= this.#at && cursor < this.#at + grapheme.length)
      this.#placeCursor(this.#measure(pieces[0] ?? ''));
    for (const [index, piece] of pieces.entries()) {
      const width = this.#measure(piece);
      if (this.#exceedsRow(width)) this.#endRow(false, index === 0 ? this.#at : null);
      this.#text += piece;
      this.#column += width;
    }
  }

  /** Puts the cursor before the next character, which has this width. */
  #placeCursor(width: number): void {
    const { length } = this.#rows;
    this.#cursor = this.#exceedsRow(width)
      ? { row: length + 1, column: 0 }
      : { row: length, column: this.#column };
  }

  #exceedsRow(width: number): boolean {
    return this.#column > 0 && this.#column + width > this.#columns;
  }

  /** The next row begins at the offset `next`. */
  #endRow(ends: boolean, next: number | null): void {
    this.#rows.push({ text: this.#text, width: this.#column, ends, from: this.#from });
    this.#text = '';
    this.#column = 0;
    this.#from = next;
  }
}

/**
 * The rows above the first change and above the cursor. Two rows above the change are laid out again, because a change can alter the width
 * of the character before it, and so the position at which its row is wrapped.
 */
function reusableRows(
  { prompt, line, columns, layout }: EarlierLayout,
  nextPrompt: Prompt,
  next: ShownLine,
  nextColumns: number,
): Row[] {
  const isSame =
    columns === nextColumns &&
    prompt.text === nextPrompt.text &&
    String(prompt.styled) === String(nextPrompt.styled) &&
    line.pastes.every((paste, index) => paste === next.pastes[index]);
  if (!isSame) return [];
  const changed = Math.min(commonLength(line.text, next.text), next.cursor);
  const { rows } = layout;
  let keep = rows.findLastIndex(({ from }) => from !== null && from <= changed) - 2;
  while (keep > 0 && rows[keep]?.from === null) keep--;
  return keep > 0 ? rows.slice(0, keep) : [];
}

/** The length of the common prefix. */
function commonLength(one: string, other: string): number {
  if (other.startsWith(one)) return one.length;
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}

/** Printable ASCII that no combining mark follows. */
const asciiRun = /[\x20-\x7e]{1,4096}(?![^\0-\x7f])/y;

function isAscii(part: string): boolean {
  return part.charCodeAt(0) >= 0x20 && part.charCodeAt(part.length - 1) < 0x7f;
}

/** The parts of a text from an offset on: a line end, a run of printable ASCII, or one grapheme. */
function* partsOf(text: string, from: number): Generator<string> {
  const run = new RegExp(asciiRun);
  for (let at = from; at < text.length; ) {
    run.lastIndex = at;
    const [part = text.slice(at, characterAfter(text, at))] = run.exec(text) ?? [];
    yield part;
    at += part.length;
  }
}

/** The layout cut to this many rows around the cursor. */
export function clip(layout: Layout, maxRows: number): Layout {
  const { rows, cursor, end } = layout;
  if (rows.length <= maxRows) return layout;
  const first = Math.min(Math.max(0, cursor.row - Math.floor(maxRows / 2)), rows.length - maxRows);
  const shown = rows.slice(first, first + maxRows);
  const last = shown.length - 1;
  const isEnd = first + last === end.row;
  return {
    rows: shown,
    cursor: { row: cursor.row - first, column: cursor.column },
    end: isEnd ? { row: last, column: end.column } : { row: last, column: unknownColumn },
  };
}
