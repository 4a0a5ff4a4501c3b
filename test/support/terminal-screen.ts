// A real pseudo-terminal and its screen: a program runs in it, keys are typed, and a terminal emulator interprets the output.
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type IPty, spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { modernWidths } from './modern-widths.ts';
import type { Variables } from './parley.ts';

const { Terminal } = headless;

export interface ScreenOptions {
  readonly cwd: string;
  readonly env: Variables;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Ending {
  readonly status: number;
  readonly signal: number;
}

const patienceMs = 20_000;

export class TerminalScreen {
  readonly #pty: IPty;
  readonly #terminal: InstanceType<typeof Terminal>;
  readonly ended: Promise<Ending>;
  /** All bytes written so far, as text. */
  bytes = '';
  #changed: (() => void)[] = [];
  #isEnded = false;

  constructor(file: string, words: readonly string[], { cwd, env, columns = 80, rows = 24 }: ScreenOptions) {
    this.#terminal = new Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
    this.#terminal.unicode.register(modernWidths);
    this.#terminal.unicode.activeVersion = modernWidths.version;
    const given = Object.entries({ TERM: 'xterm-256color', ...env });
    const set = Object.fromEntries(
      given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    this.#pty = spawn(file, [...words], { cwd, env: set, cols: columns, rows, name: set['TERM'] ?? 'xterm' });
    readAllBeforeClosing(this.#pty);
    this.#pty.onData((text) => {
      this.bytes += text;
      this.#terminal.write(text, () => this.#tell());
    });
    this.ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal = 0 }) => {
        this.#isEnded = true;
        // Pending output is drawn first.
        this.#terminal.write('', () => {
          this.#tell();
          resolve({ status: exitCode, signal });
        });
      });
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Types like a person: waits for the next row after each line. */
  async typeLines(keys: string): Promise<void> {
    const lines = keys.split(/(?<=\r)/);
    for (const line of lines.slice(0, -1)) {
      const row = this.#cursorLine;
      this.type(line);
      await this.until('the next row', () => this.#cursorLine > row);
    }
    this.type(lines.at(-1) ?? '');
  }

  get #cursorLine(): number {
    const { baseY, cursorY } = this.#terminal.buffer.active;
    return baseY + cursorY;
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
    this.#terminal.resize(columns, rows);
  }

  /** The contents of the screen, row by row, without trailing blanks. */
  get rows(): readonly string[] {
    return this.#lines(this.#terminal.buffer.active.baseY);
  }

  /** The screen with its scrollback; a row that the terminal wrapped is joined to the one before. */
  get text(): string {
    const { active } = this.#terminal.buffer;
    let text = '';
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      if (line === undefined) break;
      text += `${row > 0 && !line.isWrapped ? '\n' : ''}${line.translateToString(!active.getLine(row + 1)?.isWrapped)}`;
    }
    return text.replace(/ +$/gm, '').trimEnd();
  }

  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** The row of the cursor. */
  get cursorRow(): string {
    return this.rows[this.cursor.row] ?? '';
  }

  /** Resolves when the condition holds; rejects with the screen after a time-out. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!holds()) {
      const left = deadline - performance.now();
      if (left <= 0 || this.#isEnded) {
        if (holds()) return;
        throw new Error(
          `${what}: not so${this.#isEnded ? ', and the program has ended' : ''}\n${this.text}\n---`,
        );
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 200));
        this.#changed.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Waits until the text appears anywhere, including the scrollback. */
  shows(text: string): Promise<void> {
    return this.until(`shows ${JSON.stringify(text)}`, () => this.text.includes(text));
  }

  /** Waits until the row of the cursor is exactly this text. */
  stands(row: string): Promise<void> {
    return this.until(`stands at ${JSON.stringify(row)}`, () => this.cursorRow === row.trimEnd());
  }

  /** Closes the window: the kernel notifies its programs, and nothing can be read or written there any more. */
  hangUp(): void {
    (this.#pty as IPty & { destroy(): void }).destroy();
  }

  close(): void {
    if (!this.#isEnded) this.#pty.kill('SIGKILL');
    this.#terminal.dispose();
  }

  #lines(from: number): readonly string[] {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#terminal.rows },
      (_, row) =>
        active
          .getLine(from + row)
          ?.translateToString(true)
          .trimEnd() ?? '',
    );
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const tell of changed) tell();
  }
}

/** node-pty closes a terminal 200 ms after its program's end, and drops the output that a busy test has not read by then. */
function readAllBeforeClosing(pty: IPty): void {
  const { fd, _socket: socket } = pty as IPty & { readonly fd: number; readonly _socket: Socket };
  const destroy = socket.destroy.bind(socket);
  let isRead = false;
  socket.destroy = (error?: Error) => {
    if (!isRead && !socket.destroyed) {
      isRead = true;
      for (const text of unreadText(fd)) socket.emit('data', text);
    }
    return destroy(error);
  };
}

function* unreadText(fd: number): Generator<string> {
  const buffer = Buffer.alloc(64 * 1024);
  for (;;) {
    let length: number;
    try {
      length = readSync(fd, buffer);
    } catch {
      // EAGAIN: there is no more output. EIO: the program's side is closed.
      return;
    }
    if (length === 0) return;
    yield buffer.toString('utf8', 0, length);
  }
}
