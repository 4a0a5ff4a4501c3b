// Draws the edited line over the line that was drawn before, in one write and from the first change on. It changes nothing above the line.
import { graphemesOf } from '../terminal/graphemes.ts';
import type { Output } from '../terminal/output.ts';
import type { Measure } from '../terminal/table.ts';
import { type OutputText, TerminalText, terminalText } from '../terminal/terminal-text.ts';
import {
  clip,
  type EarlierLayout,
  type Layout,
  layOut,
  type Prompt,
  type Row,
  type ShownLine,
} from './line-layout.ts';

interface DrawnLine {
  readonly prompt: Prompt;
  readonly line: ShownLine;
  readonly text: string;
  readonly layout: Layout;
  readonly columns: number;
  /** True if the line has more rows than the screen, so that some are not drawn. */
  readonly isClipped: boolean;
}

/**
 * Clears from the first column of a row to the end of the screen, in two steps. If tmux clears from the first cell of the screen in one
 * step, it moves the cleared rows into the scrollback, and each key at the top of the screen would leave a copy there.
 */
const clearBelow = '\x1b[K\x1b[C\x1b[J\r';

/** Writes without waiting. Errors are ignored, because the keyboard reports a closed terminal. */
export function drawTo(output: Output, text: OutputText): void {
  output.write(text).catch(() => {});
}

interface LinePainterOptions {
  readonly output: Output;
  readonly measure: Measure;
  /** True if the terminal itself wraps its rows again when it is resized, and keeps the cursor at its character. */
  readonly reflows: boolean;
}

export class LinePainter {
  readonly #output: Output;
  readonly #measure: Measure;
  readonly #reflows: boolean;
  #drawn: DrawnLine | null = null;
  /** The last layout with all its rows. The next layout reuses the rows that did not change. */
  #earlier: EarlierLayout | null = null;
  /** True if the terminal wrapped the rows again since the last drawing. The first rows may then be out of sight. */
  #isRewrapped = false;

  constructor({ output, measure, reflows }: LinePainterOptions) {
    this.#output = output;
    this.#measure = measure;
    this.#reflows = reflows;
  }

  get rows(): number {
    return this.#output.stream.rows || 24;
  }

  paint(prompt: Prompt, line: ShownLine, { whole = false } = {}): void {
    const drawn = this.#layOut(prompt, line, whole);
    const shortcut = this.#cursorMove(drawn) ?? this.#addedText(drawn);
    drawTo(
      this.#output,
      new TerminalText(
        shortcut ?? `${this.#changedRows(drawn) ?? this.#allRows(drawn)}${toCursor(drawn.layout)}`,
      ),
    );
    if (shortcut === null) this.#isRewrapped = false;
    this.#drawn = drawn;
  }

  /**
   * Called when the terminal was resized. A terminal that reflows shows the line correctly, so nothing is drawn unless the prompt changed.
   * The first rows of the line may have scrolled out of sight (tmux does that at the top of the screen), where no cursor can reach them.
   * After a change other than typing at the end, the whole line is drawn again, and those rows stay in the scrollback.
   */
  resized(prompt: Prompt, line: ShownLine): void {
    const before = this.#drawn;
    const next = this.#layOut(prompt, line, false);
    const isKnown = before !== null && !before.isClipped && !next.isClipped;
    const isSame = String(before?.prompt.styled) === String(prompt.styled) && before?.line.text === line.text;
    // If the cursor is after the last character of one of several lines, terminals move it to different places.
    const isCursorSafe = isAtEnd(line) || !line.text.includes('\n');
    if (!this.#reflows || !isKnown || !isSame || !isCursorSafe) {
      this.paint(prompt, line);
      return;
    }
    // The last row is now full, so the cursor must move to the next row, as after drawing a full row.
    if (isAtEnd(line) && next.layout.end.column === 0) drawTo(this.#output, terminalText` \r`);
    this.#drawn = next;
    this.#isRewrapped = true;
  }

  #layOut(prompt: Prompt, line: ShownLine, whole: boolean): DrawnLine {
    const columns = this.#output.columns();
    const [measure, earlier] = [this.#measure, this.#earlier];
    const maxRows = whole ? Number.POSITIVE_INFINITY : Math.max(1, this.rows - 1);
    const full = layOut(prompt, line, { columns, measure, maxRowsBelow: maxRows, earlier });
    this.#earlier = { prompt, line, columns, layout: full };
    const layout = clip(full, maxRows);
    return { prompt, line, text: textOf(layout.rows), layout, columns, isClipped: layout !== full };
  }

  /** Draws the whole line for the last time, and moves the cursor to an empty row below. */
  finish(prompt: Prompt, line: ShownLine): void {
    this.paint(prompt, { ...line, cursor: line.text.length }, { whole: true });
    const { column } = this.#drawn?.layout.end ?? { column: 0 };
    // After a line that fills its last row, the cursor is in the next row already.
    if (column > 0) drawTo(this.#output, terminalText`\r\n`);
    this.#drawn = null;
  }

  /** Removes the line from the screen. The cursor is then where the line began. */
  erase(): void {
    drawTo(this.#output, new TerminalText(`${this.#toStart()}${clearBelow}`));
    this.#drawn = null;
  }

  clearScreen(): void {
    drawTo(this.#output, terminalText`\x1b[H\x1b[2J`);
    this.#drawn = null;
  }

  /** Forgets the drawn line after another program used the screen. The next line begins at the cursor. */
  forget(): void {
    this.#drawn = null;
  }

  /** Called when the measured width of some texts has changed. */
  remeasure(): void {
    this.#earlier = null;
  }

  #allRows(next: DrawnLine): string {
    return `${this.#toStart()}${clearBelow}${next.text}`;
  }

  /** Draws from the first changed row on, if there are rows above it. That writes less, and unchanged rows do not flicker. */
  #changedRows(next: DrawnLine): string | null {
    const before = this.#drawn;
    if (before === null || before.columns !== next.columns || this.#isRewrapped) return null;
    const [old, rows] = [before.layout.rows, next.layout.rows];
    const lastCommon = Math.min(old.length, rows.length) - 1;
    const change = old.findIndex((row, at) => row.text !== rows[at]?.text || row.ends !== rows[at]?.ends);
    const first = change < 0 ? lastCommon : Math.min(change, lastCommon);
    const above = rows[first - 1];
    if (above === undefined) return null;
    if (above.ends) {
      return `${toRow(before.layout.cursor.row, first)}\r${clearBelow}${textOf(rows.slice(first))}`;
    }
    // The last character of the row above is written again, so that the terminal knows that the line continues in the next row.
    const last = graphemesOf(above.text).at(-1) ?? '';
    const column = above.width - this.#measure(last);
    if (column <= 0) return null;
    const rest = textOf([{ ...above, text: last }, ...rows.slice(first)]);
    return `${toRow(before.layout.cursor.row, first - 1)}\r\x1b[${column}C\x1b[J${rest}`;
  }

  /** For a key that only moves the cursor, no text is written. */
  #cursorMove(next: DrawnLine): string | null {
    const before = this.#drawn;
    const isSame = before?.columns === next.columns && before.text === next.text && !this.#isRewrapped;
    if (!isSame) return null;
    const { row, column } = next.layout.cursor;
    return `${toRow(before.layout.cursor.row, row)}\r${column > 0 ? `\x1b[${column}C` : ''}`;
  }

  /** For a key that adds to the end of the last row, as most do, only the new text is written. */
  #addedText(next: DrawnLine): string | null {
    const before = this.#drawn;
    if (before === null || before.columns !== next.columns || !next.text.startsWith(before.text)) return null;
    const isCursorAtEnd = ({ layout: { cursor, end } }: DrawnLine) =>
      cursor.row === end.row && cursor.column === end.column;
    const sameRow = before.layout.end.row === next.layout.end.row;
    return sameRow && isCursorAtEnd(before) && isCursorAtEnd(next)
      ? next.text.slice(before.text.length)
      : null;
  }

  /**
   * Moves to the first column of the first drawn row. A terminal that was resized since then may have wrapped the rows again. No terminal
   * reports that, so `reflows` is derived from its name (open-repl.ts).
   */
  #toStart(): string {
    const before = this.#drawn;
    if (before === null) return '\r';
    const columns = this.#output.columns();
    const { layout } = before;
    const row =
      columns === before.columns || !this.#reflows
        ? layout.cursor.row
        : layOut(before.prompt, before.line, { columns, measure: this.#measure, maxRowsBelow: 0 }).cursor.row;
    const up = Math.min(row, this.rows - 1);
    return `${up > 0 ? `\x1b[${up}A` : ''}\r`;
  }
}

/** A full last row is followed by a space and a carriage return. Otherwise the cursor would stay after the last column. */
function textOf(rows: readonly Row[]): string {
  const last = rows.length - 1;
  return rows
    .map(({ text, ends }, index) => {
      if (index === last) return text;
      if (ends) return `${text}\r\n`;
      return index === last - 1 && rows[last]?.text === '' ? `${text} \r` : text;
    })
    .join('');
}

function isAtEnd({ text, cursor }: ShownLine): boolean {
  return cursor >= text.length;
}

function toRow(from: number, to: number): string {
  if (from === to) return '';
  return from > to ? `\x1b[${from - to}A` : `\x1b[${to - from}B`;
}

function toCursor({ cursor, end }: Layout): string {
  const up = end.row - cursor.row;
  if (up === 0 && cursor.column === end.column) return '';
  return `${up > 0 ? `\x1b[${up}A` : ''}\r${cursor.column > 0 ? `\x1b[${cursor.column}C` : ''}`;
}
