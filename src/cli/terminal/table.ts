// Prints a table: aligned and cut to the width of a terminal, or complete and separated by tabs in a pipe.
import { oneLine } from './filter.ts';
import { graphemesOf } from './graphemes.ts';
import type { Output } from './output.ts';
import { terminalText } from './terminal-text.ts';

export interface Column<Row> {
  readonly title: string;
  /** The cell of a row, as untrusted text. The table filters it. */
  readonly value: (row: Row) => string;
  /** True for a column that shrinks on a narrow terminal. */
  readonly flexible?: boolean;
  /** `empty`: a terminal omits the column if it is empty in every row. `narrow`: also if the rows are too wide, the last column first. */
  readonly omittedWhen?: 'empty' | 'narrow';
}

const gap = '  ';
/** A flexible column does not shrink below this width. */
const minWidth = 8;

/** Returns the number of columns of a text without line ends. */
export type Measure = (text: string) => number;

/** Prints titles only on a terminal. They are omitted if there are no rows, or if an earlier page has shown them (`titled`). */
export async function writeTable<Row>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { titled = true } = {},
): Promise<void> {
  const cells = rows.map((row) => columns.map((column) => output.visible(oneLine(column.value(row)))));
  if (cells.length === 0) return;
  if (!output.isTerminal) return output.write(cells.map((row) => `${row.join('\t')}\n`).join(''));
  const { textWidth } = await import('./text-width.ts');
  const style = await output.style();
  const shown = shownColumns(columns, cells, output.columns(), textWidth);
  const [titles = '', ...lines] = align(
    shown.flatMap((at) => columns[at] ?? []),
    cells.map((row) => shown.map((at) => row[at] ?? '')),
    output.columns(),
    textWidth,
  );
  if (titled) await output.write(terminalText`${style.bold(titles)}\n`);
  await output.write(lines.map((line) => `${line}\n`).join(''));
}

/** The indexes of the columns that a terminal of this width shows. */
function shownColumns(
  columns: readonly Pick<Column<never>, 'title' | 'flexible' | 'omittedWhen'>[],
  cells: readonly (readonly string[])[],
  available: number,
  measure: Measure,
): readonly number[] {
  const shown = columns.flatMap(({ omittedWhen }, at) =>
    omittedWhen !== undefined && cells.every((row) => row[at] === '') ? [] : [at],
  );
  const widthOf = (at: number) =>
    Math.max(...[columns[at]?.title ?? '', ...cells.map((row) => row[at] ?? '')].map(measure));
  let width = shown.reduce((sum, at) => sum + gap.length + widthOf(at), -gap.length);
  for (const at of shown.toReversed()) {
    if (width <= available) break;
    if (columns[at]?.omittedWhen !== 'narrow') continue;
    width -= gap.length + widthOf(at);
    shown.splice(shown.indexOf(at), 1);
  }
  // The last column may be cut, but is omitted if hardly anything would be left of it.
  const leastWidth = (at: number) =>
    columns[at]?.flexible || at === shown.at(-1) ? Math.min(widthOf(at), minWidth) : widthOf(at);
  while (shown.reduce((sum, at) => sum + gap.length + leastWidth(at), -gap.length) > available) {
    if (shown.length === 1) break;
    shown.pop();
  }
  return shown;
}

/** Returns the line of titles, then one line a row. */
export function align(
  columns: readonly Pick<Column<never>, 'title' | 'flexible'>[],
  cells: readonly (readonly string[])[],
  available: number,
  measure: Measure,
): readonly string[] {
  const all = [columns.map(({ title }) => title), ...cells];
  const widths = columns.map((_, at) =>
    Math.min(available, Math.max(...all.map((row) => measure(row[at] ?? '')))),
  );
  shrink(widths, columns, available);
  return all.map((row) => {
    const fitted = widths.map((width, at) => pad(cut(row[at] ?? '', width, measure), width, measure));
    return cut(fitted.join(gap).trimEnd(), available, measure);
  });
}

/** Shrinks the widest flexible column until the line fits, or until no column can shrink. */
function shrink(
  widths: number[],
  columns: readonly { readonly flexible?: boolean }[],
  available: number,
): void {
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - available;
  for (; excess > 0; excess--) {
    let widest = -1;
    columns.forEach(({ flexible = false }, at) => {
      if (flexible && (widths[at] ?? 0) > (widths[widest] ?? minWidth)) widest = at;
    });
    const width = widths[widest];
    if (width === undefined) return;
    widths[widest] = width - 1;
  }
}

function pad(text: string, width: number, measure: Measure): string {
  return text + ' '.repeat(Math.max(0, width - measure(text)));
}

/**
 * The most UTF-16 units of a cell per column of its width. Ordinary text has fewer. Thousands of characters without a width would be drawn
 * over other lines, or be hidden in the cell.
 */
const maxUnitsPerColumn = 12;

/** Cuts a text to this width, between graphemes. */
export function cut(text: string, width: number, measure: Measure): string {
  const maxUnits = width * maxUnitsPerColumn;
  if (text.length <= maxUnits && measure(text) <= width) return text;
  let beginning = '';
  let used = 0;
  for (const segment of graphemesOf(text.slice(0, maxUnits + 1))) {
    used += measure(segment);
    if (used > width - 1 || beginning.length + segment.length > maxUnits) break;
    beginning += segment;
  }
  return `${beginning}…`;
}
