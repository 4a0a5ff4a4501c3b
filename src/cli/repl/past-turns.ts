// Shows the last messages of a session that is continued: as many as fit on the screen, dimmed, so that they do not look new.
import { ParleyError } from '../../service/errors.ts';
import { isCut, isFromElsewhere, type Message } from '../../service/session.ts';
import type { CliContext } from '../context.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { filterText } from '../terminal/filter.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { lastMessages } from './last-messages.ts';

/** Rows left free for the prompt and for the lines above. */
const freeRows = 4;
const charactersOfCell = 4;
const partLength = 1000;

/** Returns the mode of the last turn here; null if there is none, or if the server shows no past messages, which is told. */
export async function showPastTurns(sessionId: string, context: CliContext): Promise<string | null> {
  const { stdout } = context;
  let last: readonly Message[];
  // Each message takes at least one row, so no more messages than rows are needed.
  const most = Math.max(1, (stdout.stream.rows || 24) - freeRows);
  try {
    last = await lastMessages(sessionId, most, context);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'UNSUPPORTED') throw error;
    await context.say('This server does not show earlier messages. The conversation still continues.');
    return null;
  }
  if (last.length === 0) return null;
  const { default: wrapAnsi } = await import('wrap-ansi');
  const columns = stdout.columns();
  const wrap = (line: string) => wrapAnsi(line, columns, { hard: true, trim: false }).split('\n');
  const rows = last
    .map((message) => endOf(said(message), most * columns))
    .flatMap((text) => filterText(text).replaceAll('\t', '    ').split('\n'))
    .flatMap((line) => wrapped(line, wrap).map(withoutBlankOfBreak));
  const { dim } = await stdout.style();
  const shown = rows.length > most ? ['…', ...rows.slice(1 - most)] : rows;
  for (const row of shown) await stdout.write(terminalText`${row === '' ? '' : dim(row)}\n`);
  const asked = last.findLast(({ role }) => role === 'user') ?? last.at(-1);
  return asked === undefined || isFromElsewhere(asked) ? null : asked.mode;
}

/** Returns more than a screen of that many cells can show, because a cell may hold several characters. */
function endOf(text: string, cells: number): string {
  const longest = charactersOfCell * cells;
  return text.length > longest ? `…${text.slice(-longest)}` : text;
}

/** Wraps in parts, each with the open row of the part before it. `wrap-ansi` takes quadratic time for words without spaces. */
function wrapped(line: string, wrap: (part: string) => string[]): readonly string[] {
  const rows: string[] = [];
  let open = '';
  for (let at = 0; at === 0 || at < line.length; at += partLength) {
    rows.push(...wrap(open + line.slice(at, at + partLength)));
    open = at + partLength < line.length ? (rows.pop() ?? '') : '';
  }
  return rows;
}

/** A row keeps the indentation of its line. Only a row that was broken off loses the blank before it. */
function withoutBlankOfBreak(row: string, index: number): string {
  return index === 0 ? row : row.replace(/^ /, '');
}

function said(message: Message): string {
  const { role, content, finish_reason } = message;
  const text = withoutLastNewlines(content);
  if (role === 'user') return `> ${text.replaceAll('\n', '\n  ')}`;
  return `${text}${isCut(message) ? `${text === '' ? '' : '\n'}[the reply was cut off: ${finish_reason}]` : ''}\n`;
}
