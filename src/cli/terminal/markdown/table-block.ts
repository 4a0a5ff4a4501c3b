// Draws a table. The widest cell determines the width of a column, so rows are held back until the table ends or until there are enough of
// them. Wide cells wrap. If the terminal is too narrow for columns, each row becomes a list of its fields.
import type { Measure } from '../table.ts';
import type { OpenLeaf } from './blocks.ts';
import type { Leaf, TextOptions } from './leaf.ts';
import { LineWriter } from './line-writer.ts';
import { type Alignment, cellsOf } from './table-rows.ts';
import { withSgr } from './theme.ts';

type TableOptions = TextOptions & { readonly measure: Measure };

const gap = 3;
/** A narrower column is not readable. */
const minWidth = 6;
const maxHeldRows = 200;
const maxHeldCharacters = 32_768;
/** A short row is filled up to this many cells at most, so that four characters do not become hundreds of lines. */
const maxFilled = 64;

export class TableBlock implements Leaf {
  readonly open: OpenLeaf = { kind: 'table' };
  readonly #options: TableOptions;
  /** Null if the head was already written as text. */
  readonly #head: readonly string[] | null;
  readonly #alignments: readonly Alignment[];
  #rows: (readonly string[])[] = [];
  #heldCharacters = 0;
  #count = 0;
  /** Null if the terminal is too narrow for columns, undefined before the layout. */
  #widths: readonly number[] | null | undefined;

  constructor(head: string | null, alignments: readonly Alignment[], options: TableOptions) {
    this.#head = head === null ? null : cellsOf(head);
    this.#alignments = alignments;
    this.#options = options;
  }

  /** The rows so far. */
  get rowCount(): number {
    return this.#count;
  }

  /** Takes a whole row. */
  flow(row: string): void {
    this.#count += 1;
    this.#rows.push(this.#fit(cellsOf(row)));
    this.#heldCharacters += row.length;
    if (
      this.#widths !== undefined ||
      this.#rows.length >= maxHeldRows ||
      this.#heldCharacters >= maxHeldCharacters
    )
      this.#draw();
  }

  endLine(): void {}

  close(): void {
    this.#draw();
  }

  /** As many cells as there are columns. Surplus cells are joined into the last one. */
  #fit(cells: readonly string[]): readonly string[] {
    const count = this.#alignments.length;
    const row = cells.slice(0, count - 1);
    row.push(cells.slice(count - 1).join(' | '));
    while (row.length < Math.min(count, maxFilled)) row.push('');
    return row;
  }

  #draw(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#heldCharacters = 0;
    if (this.#widths === undefined) {
      this.#widths = this.#layout(rows);
      if (this.#widths === null) this.#drawFields(rows);
      else this.#drawAll(rows, this.#widths);
    } else if (this.#widths === null) this.#drawFields(rows);
    else for (const row of rows) this.#drawRow(this.#lines(row, this.#widths, ''), this.#widths);
  }

  #layout(rows: readonly (readonly string[])[]): readonly number[] | null {
    const all = this.#head === null ? rows : [this.#fit(this.#head), ...rows];
    const natural = this.#alignments.map((_, at) =>
      all.reduce((widest, row) => Math.max(widest, this.#naturalWidth(row[at] ?? '')), 1),
    );
    return columnWidths(natural, this.#options.line.width() - gap * (natural.length - 1));
  }

  #naturalWidth(cell: string): number {
    return Math.max(...this.#cellLines(cell, Number.MAX_SAFE_INTEGER, '').map(this.#options.measure));
  }

  #drawAll(rows: readonly (readonly string[])[], widths: readonly number[]): void {
    const { theme } = this.#options;
    const rule = withSgr(widths.map((width) => '─'.repeat(width)).join('─┼─'), theme.frame.codes);
    if (this.#head !== null)
      this.#drawRow(this.#lines(this.#fit(this.#head), widths, theme.strong.codes), widths);
    this.#options.line.line(rule);
    const drawn = rows.map((row) => this.#lines(row, widths, ''));
    const wraps = drawn.some((row) => row.some((lines) => lines.length > 1));
    for (const [index, row] of drawn.entries()) {
      if (wraps && index > 0) this.#options.line.line(rule);
      this.#drawRow(row, widths);
    }
  }

  #lines(row: readonly string[], widths: readonly number[], codes: string): readonly (readonly string[])[] {
    return widths.map((width, at) => this.#cellLines(row[at] ?? '', width, codes));
  }

  #drawRow(row: readonly (readonly string[])[], widths: readonly number[]): void {
    const { line, theme, measure } = this.#options;
    const bar = withSgr('│', theme.frame.codes);
    const height = Math.max(...row.map((lines) => lines.length));
    for (let level = 0; level < height; level++) {
      const cells = row.map((lines, at) => {
        const text = lines[level] ?? '';
        return pad(text, (widths[at] ?? 1) - measure(text), this.#alignments[at] ?? 'left');
      });
      line.line(cells.join(` ${bar} `).trimEnd());
    }
  }

  #cellLines(cell: string, width: number, codes: string): readonly string[] {
    const { text, measure } = this.#options;
    const lines = new LineWriter({
      columns: () => width,
      prefix: () => ({ text: '', width: 0 }),
      onBegin: () => {},
      measure,
      cutsAddresses: true,
    });
    text.write(cell.replace(/<br[ ]*\/?>/gi, '\n'), codes, lines);
    lines.endLine();
    return lines.take().split('\n');
  }

  #drawFields(rows: readonly (readonly string[])[]): void {
    const { line, text, theme } = this.#options;
    for (const [index, row] of rows.entries()) {
      if (index > 0) line.line('');
      for (const [at, cell] of row.entries()) {
        const title = this.#head?.[at] ?? '';
        if (title !== '') {
          text.write(title, theme.strong.codes, line);
          line.put(': ', '');
        }
        text.write(cell, '', line);
        line.endLine();
      }
    }
  }
}

function pad(text: string, space: number, alignment: Alignment): string {
  if (space <= 0) return text;
  if (alignment === 'left') return text + ' '.repeat(space);
  const before = alignment === 'right' ? space : Math.floor(space / 2);
  return ' '.repeat(before) + text + ' '.repeat(space - before);
}

/**
 * The natural widths of the columns if they fit. Otherwise the wide columns share the remaining width. Null if the columns do not fit even
 * with their least width. `available` excludes the space between the columns.
 */
function columnWidths(natural: readonly number[], available: number): readonly number[] | null {
  if (natural.reduce((sum, width) => sum + width, 0) <= available) return natural;
  const order = natural.map((width, at) => ({ width, at })).sort((one, other) => one.width - other.width);
  const widths = [...natural];
  let remaining = available;
  // Narrow columns keep their width. Columns wider than an equal share of the remaining width get that share.
  for (const [done, { width: own, at }] of order.entries()) {
    const share = Math.floor(remaining / (order.length - done));
    const width = Math.min(own, share);
    if (width < Math.min(own, minWidth)) return null;
    widths[at] = width;
    remaining -= width;
  }
  return widths;
}
