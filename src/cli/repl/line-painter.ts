// Draws the line that is being edited over the one drawn before, in one write, and touches nothing above it.
import type { Output } from '../terminal/output.ts';
import { clipped, type Layout, layOut, type Measure, type Prompt, type ShownLine } from './line-layout.ts';

interface Drawn {
  readonly prompt: Prompt;
  readonly line: ShownLine;
  readonly text: string;
  readonly layout: Layout;
  readonly columns: number;
}

/**
 * Clears from the first column of a row on, all that is below included. Not at once: a terminal that is told so in its first cell keeps
 * what it clears among the lines that scrolled away (tmux does), and each key at the top of the screen would leave a copy there.
 */
const clearBelow = '\x1b[K\x1b[C\x1b[J\r';

/** Of a terminal that is gone the keyboard tells: what is drawn on it then is lost in silence. */
export function drawTo(output: Output, text: string): void {
  output.write(text).catch(() => {});
}

export class LinePainter {
  readonly #output: Output;
  readonly #measure: Measure;
  #drawn: Drawn | null = null;

  constructor(output: Output, measure: Measure) {
    this.#output = output;
    this.#measure = measure;
  }

  get rows(): number {
    return this.#output.stream.rows || 24;
  }

  paint(prompt: Prompt, line: ShownLine, { whole = false } = {}): void {
    const columns = this.#output.columns();
    const full = layOut(prompt, line, columns, this.#measure);
    const layout = whole ? full : clipped(full, Math.max(1, this.rows - 1));
    const text = textOf(layout);
    const drawn = { prompt, line, text, layout, columns };
    drawTo(this.#output, this.#change(drawn));
    this.#drawn = drawn;
  }

  /** Leaves the line where it is, whole, the cursor on a row of its own below. */
  finish(prompt: Prompt, line: ShownLine): void {
    this.paint(prompt, { ...line, cursor: line.text.length }, { whole: true });
    const { column } = this.#drawn?.layout.end ?? { column: 0 };
    // A line that ends with its row has opened the next one already.
    if (column > 0) drawTo(this.#output, '\r\n');
    this.#drawn = null;
  }

  /** Takes the line off the screen: the cursor is where it began. */
  erase(): void {
    drawTo(this.#output, `${this.#toStart()}${clearBelow}`);
    this.#drawn = null;
  }

  clearScreen(): void {
    drawTo(this.#output, '\x1b[H\x1b[2J');
    this.#drawn = null;
  }

  /** Somebody else had the screen: the next line begins where the cursor is now. */
  forget(): void {
    this.#drawn = null;
  }

  #change(next: Drawn): string {
    return this.#appended(next) ?? `${this.#toStart()}${clearBelow}${next.text}${toCursor(next.layout)}`;
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

  /** To the first column of the first row drawn. A terminal that was resized since has wrapped the rows anew. */
  #toStart(): string {
    const before = this.#drawn;
    if (before === null) return '\r';
    const columns = this.#output.columns();
    const { layout } = before;
    const row =
      columns === before.columns
        ? layout.cursor.row
        : layOut(before.prompt, before.line, columns, this.#measure).cursor.row;
    const up = Math.min(row, this.rows - 1);
    return `${up > 0 ? `\x1b[${up}A` : ''}\r`;
  }
}

/** A row that is full is left with a space and a return: else the cursor would hang behind its last column. */
function textOf({ rows }: Layout): string {
  const last = rows.length - 1;
  return rows
    .map(({ text, ends }, index) => {
      if (index === last) return text;
      if (ends) return `${text}\r\n`;
      return index === last - 1 && rows[last]?.text === '' ? `${text} \r` : text;
    })
    .join('');
}

function toCursor({ cursor, end }: Layout): string {
  const up = end.row - cursor.row;
  if (up === 0 && cursor.column === end.column) return '';
  return `${up > 0 ? `\x1b[${up}A` : ''}\r${cursor.column > 0 ? `\x1b[${cursor.column}C` : ''}`;
}
