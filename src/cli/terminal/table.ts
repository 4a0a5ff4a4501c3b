// Prints rows: aligned and cut to the width of a terminal, or whole and separated by tabs for a pipe.
import { oneLine } from './filter.ts';
import type { Output } from './output.ts';
import { terminalText } from './terminal-text.ts';

export interface Column<Row> {
  readonly title: string;
  /** The cell of a row, as untrusted text. The table filters it. */
  readonly value: (row: Row) => string;
  /** True for a column that shrinks on a narrow terminal. */
  readonly flexible?: boolean;
  /** When a terminal leaves the column out: if it is empty in every row, or also if the rows are too wide, the last such column first. */
  readonly leftOut?: 'empty' | 'narrow';
}

const gap = '  ';
const narrowest = 8;

/** Columns of a text without line ends. */
export type Measure = (text: string) => number;

/** Titles appear only on a terminal, and not if an earlier page shows them. Without rows there are no titles. */
export async function writeTable<Row>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { titled = true } = {},
): Promise<void> {
  const cells = rows.map((row) => columns.map((column) => output.visible(oneLine(column.value(row)))));
  if (cells.length === 0) return;
  if (!output.isTerminal) {
    await output.write(cells.map((row) => `${row.join('\t')}\n`).join(''));
    return;
  }
  const { default: stringWidth } = await import('string-width');
  const style = await output.style();
  const shown = shownColumns(columns, cells, output.columns(), stringWidth);
  const [titles = '', ...lines] = align(
    shown.map((at) => columns[at] as Column<Row>),
    cells.map((row) => shown.map((at) => row[at] ?? '')),
    output.columns(),
    stringWidth,
  );
  if (titled) await output.write(terminalText`${style.bold(titles)}\n`);
  await output.write(lines.map((line) => `${line}\n`).join(''));
}

/** Which columns a terminal of this width shows. */
function shownColumns(
  columns: readonly Pick<Column<never>, 'title' | 'leftOut'>[],
  cells: readonly (readonly string[])[],
  available: number,
  measure: Measure,
): readonly number[] {
  const shown = columns.flatMap(({ leftOut }, at) =>
    leftOut !== undefined && cells.every((row) => row[at] === '') ? [] : [at],
  );
  const widthOf = (at: number) =>
    Math.max(...[columns[at]?.title ?? '', ...cells.map((row) => row[at] ?? '')].map(measure));
  let width = shown.reduce((sum, at) => sum + gap.length + widthOf(at), -gap.length);
  for (const at of shown.toReversed()) {
    if (width <= available) break;
    if (columns[at]?.leftOut !== 'narrow') continue;
    width -= gap.length + widthOf(at);
    shown.splice(shown.indexOf(at), 1);
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
    const fitted = widths.map((width, at) => padded(cut(row[at] ?? '', width, measure), width, measure));
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
      if (flexible && (widths[at] ?? 0) > (widths[widest] ?? narrowest)) widest = at;
    });
    const width = widths[widest];
    if (width === undefined) return;
    widths[widest] = width - 1;
  }
}

function padded(text: string, width: number, measure: Measure): string {
  return text + ' '.repeat(Math.max(0, width - measure(text)));
}

/**
 * The most UTF-16 units of a cell for each of its columns. No honest text has more; thousands of characters without a width would be
 * drawn over other lines, or hide in the cell.
 */
const unitsOfColumn = 12;

/** Cuts a text to this width, between graphemes. */
export function cut(text: string, width: number, measure: Measure): string {
  const most = width * unitsOfColumn;
  if (text.length <= most && measure(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, most + 1))) {
    used += measure(segment);
    if (used > width - 1 || kept.length + segment.length > most) break;
    kept += segment;
  }
  return `${kept}…`;
}
