// The program in this process, at a terminal that records every byte: typed commands, and the REPL with its lines, its completion and its list of
// sessions.
import { PassThrough, Writable } from 'node:stream';
import { CliContext } from '../../../src/cli/context.ts';
import { runCommandLine } from '../../../src/cli/program.ts';
import { complete } from '../../../src/cli/repl/completion.ts';
import { Conversation } from '../../../src/cli/repl/conversation.ts';
import { drawTo, LinePainter } from '../../../src/cli/repl/line-painter.ts';
import type { LineSource, ReadLine } from '../../../src/cli/repl/line-source.ts';
import { slashCommands } from '../../../src/cli/repl/slash-commands.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { hostInProcess } from '../../support/host-in-process.ts';
import { openRemote } from '../../support/remote.ts';
import { runRepl } from './run-repl.ts';

const columns = 300;
/** The text of a question, and the keys that answer it: the second of the sessions; yes. */
const answers = [
  [['Which session?', 'messages'], '\x1b[B\r'],
  [['(y/N)'], 'y\r'],
] as const;

export class AttackedTerminal {
  readonly #directory: string;
  readonly #url: string;
  #written = '';
  #keys: PassThrough | null = null;

  constructor(directory: string, url: string) {
    this.#directory = directory;
    this.#url = url;
  }

  /** The output since the last call. */
  taken(): string {
    const written = this.#written;
    this.#written = '';
    return written;
  }

  async run(argv: readonly string[]): Promise<void> {
    await runCommandLine(argv, this.#host('pipe'));
  }

  /** A line that begins with a tab is completed and drawn, and not sent. */
  async repl(lines: readonly string[]): Promise<void> {
    const flags = { profile: null, url: this.#url, json: false, jq: null, quiet: false, progress: false };
    const others = {
      input: true,
      color: false,
      timeout: null,
      insecureHttp: false,
      store: null,
      insecureStore: false,
      ca: null,
      debug: true,
    };
    const context = new CliContext(this.#host('device'), { ...flags, ...others });
    const conversation = new Conversation({ mode: null, markdown: 'auto' });
    try {
      await runRepl(context, conversation, this.#reader([...lines], context));
    } finally {
      await context.close();
    }
  }

  #reader(lines: string[], context: CliContext): LineSource['read'] {
    const { stdout: output } = context;
    const painter = new LinePainter({ output, measure: (text) => text.length, reflows: false });
    const completed = slashCommands.map(({ name, choices }) => ({
      name,
      ...(choices && { choices: (beginning: string) => choices(beginning, context).catch(() => []) }),
    }));
    const read = async (prompt: Parameters<LineSource['read']>[0], initial: string): Promise<ReadLine> => {
      const draw = (text: string) => painter.finish(prompt(80), { text, cursor: 0, pastes: [] });
      draw(initial);
      const line = lines.shift();
      if (line === undefined) return { kind: 'left' };
      if (!line.startsWith('\t'))
        return {
          kind: 'line',
          line: { text: line, mayBeCommand: line.startsWith('/'), mentions: [], typed: line, returned: line },
        };
      const typed = line.slice(1);
      const { insert, choices } = await complete(typed, typed.length, completed, async () => []);
      draw(insert);
      drawTo(output, choices.map((choice) => `${choice}\n`).join(''));
      return read(prompt, '');
    };
    return read;
  }

  #host(kind: 'pipe' | 'device') {
    const { signal } = new AbortController();
    const outputOf = (role: 'data' | 'talk') =>
      createOutput(this.#stream(), { role, env: {}, noColor: true, signal });
    const host = hostInProcess({
      directory: this.#directory,
      outputs: { stdout: outputOf('data'), stderr: outputOf('talk') },
      stdin: [],
      signal,
      newRequestId: () => 'req_1',
      openBackend: async () => ({ backend: (await openRemote(this.#url)).backend, apiKey: 'none' }),
    });
    const openKeys = () => {
      this.#keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
      return this.#keys;
    };
    const env = { PARLEY_URL: this.#url, PARLEY_API_KEY: 'none' };
    const isPipe = kind === 'pipe';
    const keyboard = { ...host.stdin, isTerminal: () => true, kind: () => kind, open: openKeys };
    return { ...host, env, stdin: isPipe ? { ...host.stdin, kind: () => 'closed' as const } : keyboard };
  }

  #stream(): Writable {
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        const text = chunk.toString();
        this.#written += text;
        const keys = this.#keys;
        const answer = answers.find(([question]) => question.every((words) => text.includes(words)));
        if (keys !== null && answer !== undefined) {
          this.#keys = null;
          setImmediate(() => keys.write(answer[1]));
        }
        done();
      },
    });
    // The methods of a terminal that a spinner calls.
    const moves = { cursorTo: () => true, clearLine: () => true, moveCursor: () => true };
    return Object.assign(stream, { isTTY: true as const, columns, rows: 400, ...moves });
  }
}
