// Lays a line out on a screen of a given width: the rows that it takes, and the place of the cursor. The functions are pure.
// line-painter.ts draws the rows.
import { filterText } from '../terminal/filter.ts';
import type { Measure } from '../terminal/table.ts';
import { type OutputText, shown as shownText } from '../terminal/terminal-text.ts';
import type { LineState } from './line-state.ts';
import { foldLabel } from './line-text.ts';

/** Returns the prompt for a terminal of this width. */
export type PromptFor = (columns: number) => Prompt;

/** The text before the line. `styled` is shown, and is as wide as `text`. */
export interface Prompt {
  readonly text: string;
  readonly styled: OutputText;
}

export interface Row {
  readonly text: string;
  readonly width: number;
  /** False if the terminal itself wraps to the next row. Then it may also join both rows again when it is resized. */
  readonly ends: boolean;
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly cursor: Place;
  readonly end: Place;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

const indent = '  ';
const tab = '    ';
/** The end column of rows that are cut off below. It equals no column, so the cursor is always moved to its place. */
const notTheCursor = -1;

/** The part of a line that is shown. During Ctrl-R it is the found line. */
export type ShownLine = Pick<LineState, 'text' | 'cursor' | 'pastes'>;

export function layOut(prompt: Prompt, line: ShownLine, columns: number, measure: Measure): Layout {
  const rows: Row[] = [];
  let row = shownText(prompt.styled);
  let column = measure(prompt.text);
  let cursor: Place | null = null;
  const end = (ends: boolean) => {
    rows.push({ text: row, width: column, ends });
    row = '';
    column = 0;
  };
  const put = (text: string, width: number) => {
    if (column + width > columns && column > 0) end(false);
    row += text;
    column += width;
  };
  const mark = (width: number) => {
    const wraps = column + width > columns && column > 0;
    cursor = wraps ? { row: rows.length + 1, column: 0 } : { row: rows.length, column };
  };

  let at = 0;
  for (const part of partsOf(line.text)) {
    if (part === '\n') {
      // The last column has no room for the cursor behind it, so the cursor stands on the next row.
      if (at === line.cursor) mark(1);
      end(true);
      put(indent, indent.length);
    } else {
      const label = foldLabel(part, line.pastes);
      const shown = label ?? (part === '\t' ? tab : filterText(part));
      const pieces = shown === part ? [part] : [...shown];
      // The cursor stands before an emoji of several parts, because there is no place inside it.
      if (line.cursor >= at && line.cursor < at + part.length) mark(measure(pieces[0] ?? ''));
      for (const piece of pieces) put(piece, measure(piece));
    }
    at += part.length;
  }
  if (cursor === null) mark(1);
  if (column >= columns) end(false);
  rows.push({ text: row, width: column, ends: true });
  return { rows, cursor: cursor ?? { row: 0, column: 0 }, end: { row: rows.length - 1, column } };
}

/** The graphemes of a text. Printable ASCII needs no segmenter. */
function* partsOf(text: string): Generator<string> {
  if (/^[\x20-\x7e\n]*$/.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    // The segmenter takes CRLF for one grapheme, but CRLF was replaced by a line feed before.
    yield segment;
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
    end: isEnd ? { row: last, column: end.column } : { row: last, column: notTheCursor },
  };
}
