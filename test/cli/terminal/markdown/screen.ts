// A terminal emulator that reads written bytes: its lines, and the style of a cell.
import xterm from '@xterm/headless';

export interface Screen {
  /** Without trailing spaces, up to the last line that is not empty. */
  readonly lines: readonly string[];
  /** The lines that the terminal itself had to wrap. */
  readonly wrapped: readonly string[];
  /** The style of the first character of this text on the screen. */
  lookOf(text: string): Look;
}

export interface Look {
  readonly bold: boolean;
  readonly italic: boolean;
  readonly underlined: boolean;
  readonly struck: boolean;
  readonly dim: boolean;
  /** One of the 16 colours, -1 for that of the terminal. */
  readonly colour: number;
}

export async function screenOf(bytes: string, columns: number): Promise<Screen> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 100, convertEol: true, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const buffer = terminal.buffer.active;
  const all = Array.from({ length: buffer.length }, (_, at) => buffer.getLine(at));
  const lines = all.map((line) => line?.translateToString(true).trimEnd() ?? '');
  while (lines.at(-1) === '') lines.pop();
  return {
    lines,
    wrapped: all.flatMap((line, at) => (line?.isWrapped ? [lines[at] ?? ''] : [])),
    lookOf(text) {
      for (const line of all) {
        for (let at = 0; at < columns; at++) {
          const cell = line?.getCell(at);
          if (cell === undefined || !line?.translateToString(true, at).startsWith(text)) continue;
          return {
            bold: cell.isBold() !== 0,
            italic: cell.isItalic() !== 0,
            underlined: cell.isUnderline() !== 0,
            struck: cell.isStrikethrough() !== 0,
            dim: cell.isDim() !== 0,
            colour: cell.isFgDefault() ? -1 : cell.getFgColor(),
          };
        }
      }
      throw new Error(`The screen does not show ${text}`);
    },
  };
}
