// A line on a screen of so many columns: the rows that it takes, and where the cursor stands. Pure; what is drawn when is the
// business of line-painter.ts.
import { filterText } from '../terminal/filter.ts';
import type { Measure } from '../terminal/table.ts';
import { type OutputText, shown as shownText } from '../terminal/terminal-text.ts';
import type { LineState } from './line-state.ts';
import { foldLabel } from './line-text.ts';

/** What stands before the line on a terminal of so many columns. */
export type PromptFor = (columns: number) => Prompt;

/** Stands before the line: `text` is as wide as `styled`, which is what is shown. */
export interface Prompt {
  readonly text: string;
  readonly styled: OutputText;
}

export interface Row {
  readonly text: string;
  readonly width: number;
  /** False where the terminal itself goes on with the next row: then it can also put both together again when it is resized. */
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
/** Of a row that is cut off below: the cursor has to be put where it belongs. */
const notTheCursor = -1;

/** What of a line is shown: while Ctrl-R looks for one, what it found. */
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
      // On the last column there is no place for it but the next row.
      if (at === line.cursor) mark(1);
      end(true);
      put(indent, indent.length);
    } else {
      const label = foldLabel(part, line.pastes);
      const shown = label ?? (part === '\t' ? tab : filterText(part));
      const pieces = shown === part ? [part] : [...shown];
      // An emoji of several parts may be in the making: within it there is no place for a cursor.
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

/** Characters as a person sees them. Printable ASCII needs no segmenter. */
function* partsOf(text: string): Generator<string> {
  if (/^[\x20-\x7e\n]*$/.test(text)) {
    yield* text;
    return;
  }
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    // CRLF is one to the segmenter, and was made a line feed before.
    yield segment;
  }
}

/** A layout cut to so many rows, those about the cursor. */
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
