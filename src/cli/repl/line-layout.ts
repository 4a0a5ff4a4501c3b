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

export interface LayoutOptions {
  readonly columns: number;
  readonly measure: Measure;
  /** Rows further than this below the cursor are omitted. */
  readonly most?: number;
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
  const { columns, measure, most = Number.POSITIVE_INFINITY, earlier = null } = options;
  const rows = earlier === null ? [] : reusableRows(earlier, prompt, line, columns);
  const last = rows.at(-1);
  const start = earlier?.layout.rows[rows.length]?.from ?? 0;
  let row = last === undefined ? sequencesOf(prompt.styled) : last.ends ? indent : '';
  let column = last === undefined ? measure(prompt.text) : row.length;
  let from: number | null = start;
  let cursor = null as Place | null;
  const end = (ends: boolean, next: number | null) => {
    rows.push({ text: row, width: column, ends, from });
    row = '';
    column = 0;
    from = next;
  };
  const mark = (width: number) => {
    const wraps = column + width > columns && column > 0;
    cursor = wraps ? { row: rows.length + 1, column: 0 } : { row: rows.length, column };
  };
  /** ASCII text takes one column a character, so it is added row by row. */
  const putAscii = (text: string, at: number) => {
    for (let done = 0; done < text.length; ) {
      if (column >= columns && column > 0) end(false, at + done);
      const count = Math.min(Math.max(1, columns - column), text.length - done);
      const offset = line.cursor - at - done;
      if (offset >= 0 && offset < count) cursor = { row: rows.length, column: column + offset };
      row += text.slice(done, done + count);
      column += count;
      done += count;
    }
  };
  const putPart = (part: string, at: number) => {
    const label = foldLabel(part, line.pastes);
    const shown = label ?? (part === '\t' ? tab : filterText(part));
    const pieces = shown === part ? [part] : [...shown];
    // A cursor inside an emoji of several parts is shown before the emoji.
    if (line.cursor >= at && line.cursor < at + part.length) mark(measure(pieces[0] ?? ''));
    for (const [index, piece] of pieces.entries()) {
      const width = measure(piece);
      if (column + width > columns && column > 0) end(false, index === 0 ? at : null);
      row += piece;
      column += width;
    }
  };

  let at = start;
  for (const part of partsOf(line.text, start)) {
    if (part === '\n') {
      // After the last column there is no room for the cursor, so it is shown on the next row.
      if (at === line.cursor) mark(1);
      end(true, at + 1);
      row = indent;
      column = indent.length;
    } else if (isAscii(part)) putAscii(part, at);
    else putPart(part, at);
    at += part.length;
    if (cursor !== null && rows.length > cursor.row + most)
      return { rows, cursor, end: { row: rows.length, column: 0 } };
  }
  if (cursor === null) mark(1);
  if (column >= columns) end(false, at);
  rows.push({ text: row, width: column, ends: true, from });
  return { rows, cursor: cursor ?? { row: 0, column: 0 }, end: { row: rows.length - 1, column } };
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
export function clipped(layout: Layout, most: number): Layout {
  const { rows, cursor, end } = layout;
  if (rows.length <= most) return layout;
  const first = Math.min(Math.max(0, cursor.row - Math.floor(most / 2)), rows.length - most);
  const shown = rows.slice(first, first + most);
  const last = shown.length - 1;
  const isEnd = first + last === end.row;
  return {
    rows: shown,
    cursor: { row: cursor.row - first, column: cursor.column },
    end: isEnd ? { row: last, column: end.column } : { row: last, column: unknownColumn },
  };
}
