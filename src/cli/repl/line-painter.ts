// Draws the line that is being edited over the one drawn before, in one write, from where it changed, and touches nothing above it.
import type { Output } from '../terminal/output.ts';
import type { Measure } from '../terminal/table.ts';
import { type OutputText, TerminalText, terminalText } from '../terminal/terminal-text.ts';
import { clipped, type Layout, layOut, type Prompt, type Row, type ShownLine } from './line-layout.ts';

interface Drawn {
  readonly prompt: Prompt;
  readonly line: ShownLine;
  readonly text: string;
  readonly layout: Layout;
  readonly columns: number;
  /** It has more rows than the screen: some are not there. */
  readonly isClipped: boolean;
}

/**
 * Clears from the first column of a row on, all that is below included. Not at once: a terminal that is told so in its first cell keeps
 * what it clears among the lines that scrolled away (tmux does), and each key at the top of the screen would leave a copy there.
 */
const clearBelow = '\x1b[K\x1b[C\x1b[J\r';

/** Of a terminal that is gone the keyboard tells: what is drawn on it then is lost in silence. */
export function drawTo(output: Output, text: OutputText): void {
  output.write(text).catch(() => {});
}

export interface LinePainterOptions {
  readonly output: Output;
  readonly measure: Measure;
  /** A resized terminal wraps its rows anew by itself, and the cursor stays at its character. */
  readonly reflows: boolean;
}

export class LinePainter {
  readonly #output: Output;
  readonly #measure: Measure;
  readonly #reflows: boolean;
  #drawn: Drawn | null = null;
  /** The terminal wrapped it anew since: rows at its top may be out of sight. */
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
    const drawn = this.#laidOut(prompt, line, whole);
    const more = this.#appended(drawn);
    drawTo(
      this.#output,
      new TerminalText(
        more ?? `${this.#changedRows(drawn) ?? this.#allRows(drawn)}${toCursor(drawn.layout)}`,
      ),
    );
    if (more === null) this.#isRewrapped = false;
    this.#drawn = drawn;
  }

  /**
   * The terminal has another size. One that reflows shows the line as it should be, so nothing is drawn unless the prompt changed.
   * Rows at the top of the line may have gone out of sight: tmux does that at the top of the screen. No cursor gets there again; when
   * more is changed than what is typed at the end, the line is drawn whole, and they stay among the lines that scrolled away.
   */
  resized(prompt: Prompt, line: ShownLine): void {
    const before = this.#drawn;
    const next = this.#laidOut(prompt, line, false);
    const isKnown = before !== null && !before.isClipped && !next.isClipped;
    const isSame = String(before?.prompt.styled) === String(prompt.styled) && before?.line.text === line.text;
    // Behind the last character of one of several lines, terminals differ on where the cursor goes.
    const isCursorSafe = isAtEnd(line) || !line.text.includes('\n');
    if (!this.#reflows || !isKnown || !isSame || !isCursorSafe) {
      this.paint(prompt, line);
      return;
    }
    // A row that is full now: the next one is to be opened, as for one that was drawn so.
    if (isAtEnd(line) && next.layout.end.column === 0) drawTo(this.#output, terminalText` \r`);
    this.#drawn = next;
    this.#isRewrapped = true;
  }

  #laidOut(prompt: Prompt, line: ShownLine, whole: boolean): Drawn {
    const columns = this.#output.columns();
    const full = layOut(prompt, line, columns, this.#measure);
    const layout = whole ? full : clipped(full, Math.max(1, this.rows - 1));
    return { prompt, line, text: textOf(layout.rows), layout, columns, isClipped: layout !== full };
  }

  /** Leaves the line where it is, whole, the cursor on a row of its own below. */
  finish(prompt: Prompt, line: ShownLine): void {
    this.paint(prompt, { ...line, cursor: line.text.length }, { whole: true });
    const { column } = this.#drawn?.layout.end ?? { column: 0 };
    // A line that ends with its row has opened the next one already.
    if (column > 0) drawTo(this.#output, terminalText`\r\n`);
    this.#drawn = null;
  }

  /** Takes the line off the screen: the cursor is where it began. */
  erase(): void {
    drawTo(this.#output, new TerminalText(`${this.#toStart()}${clearBelow}`));
    this.#drawn = null;
  }

  clearScreen(): void {
    drawTo(this.#output, terminalText`\x1b[H\x1b[2J`);
    this.#drawn = null;
  }

  /** Somebody else had the screen: the next line begins where the cursor is now. */
  forget(): void {
    this.#drawn = null;
  }

  #allRows(next: Drawn): string {
    return `${this.#toStart()}${clearBelow}${next.text}`;
  }

  /** From the first row on that is another now, if rows above it stay: less to write, and nothing flickers that did not change. */
  #changedRows(next: Drawn): string | null {
    const before = this.#drawn;
    if (before === null || before.columns !== next.columns || this.#isRewrapped) return null;
    const [old, rows] = [before.layout.rows, next.layout.rows];
    const most = Math.min(old.length, rows.length) - 1;
    const same = old.findIndex((row, at) => row.text !== rows[at]?.text || row.ends !== rows[at]?.ends);
    const first = same < 0 ? most : Math.min(same, most);
    const above = rows[first - 1];
    if (above === undefined) return null;
    if (above.ends) {
      return `${toRow(before.layout.cursor.row, first)}\r${clearBelow}${textOf(rows.slice(first))}`;
    }
    // The last character of the row above again: the terminal is to know that the line goes on there.
    const last = [...new Intl.Segmenter().segment(above.text)].at(-1)?.segment ?? '';
    const column = above.width - this.#measure(last);
    if (column <= 0) return null;
    const rest = textOf([{ ...above, text: last }, ...rows.slice(first)]);
    return `${toRow(before.layout.cursor.row, first - 1)}\r\x1b[${column}C\x1b[J${rest}`;
  }

  /** Most keys add to the end of a row: then that is all there is to write. */
  #appended(next: Drawn): string | null {
    const before = this.#drawn;
    if (before === null || before.columns !== next.columns || !next.text.startsWith(before.text)) return null;
    const stands = ({ layout: { cursor, end } }: Drawn) =>
      cursor.row === end.row && cursor.column === end.column;
    const sameRow = before.layout.end.row === next.layout.end.row;
    return sameRow && stands(before) && stands(next) ? next.text.slice(before.text.length) : null;
  }

  /**
   * To the first column of the first row drawn. A terminal that was resized since has wrapped the rows anew, or has left them as they
   * were. Which of both nobody tells: `reflows` is what is known of it by its name (terminal-reflow.ts).
   */
  #toStart(): string {
    const before = this.#drawn;
    if (before === null) return '\r';
    const columns = this.#output.columns();
    const { layout } = before;
    const row =
      columns === before.columns || !this.#reflows
        ? layout.cursor.row
        : layOut(before.prompt, before.line, columns, this.#measure).cursor.row;
    const up = Math.min(row, this.rows - 1);
    return `${up > 0 ? `\x1b[${up}A` : ''}\r`;
  }
}

/** A row that is full is left with a space and a return: else the cursor would hang behind its last column. */
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
