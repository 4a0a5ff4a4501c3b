// What was said last in a session that is taken up again: as much as a screen holds, dimmed, so that it is not taken for new.
import { ParleyError } from '../../service/errors.ts';
import { isCut, type Message } from '../../service/session.ts';
import type { CliContext } from '../context.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { filterText } from '../terminal/filter.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { lastMessages } from './last-messages.ts';

/** Rows left free for the prompt and what was above. */
const freeRows = 4;
const charactersOfCell = 4;
const partLength = 1000;

/** Says so where the server keeps no past turns that it would show. */
export async function showPastTurns(sessionId: string, context: CliContext): Promise<void> {
  const { stdout } = context;
  let last: readonly Message[];
  // A message has a row at least, so more messages than rows are never needed.
  const most = Math.max(1, (stdout.stream.rows || 24) - freeRows);
  try {
    last = await lastMessages(sessionId, most, context);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'UNSUPPORTED') throw error;
    await context.say(
      'This server does not show what was said before; the conversation goes on all the same.',
    );
    return;
  }
  if (last.length === 0) return;
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
}

/** More than a screen of so many cells can show: a cell may hold several characters. */
function endOf(text: string, cells: number): string {
  const longest = charactersOfCell * cells;
  return text.length > longest ? `…${text.slice(-longest)}` : text;
}

/** In parts, each with the open row of the part before it: `wrap-ansi` takes quadratic time for words without spaces between them. */
function wrapped(line: string, wrap: (part: string) => string[]): readonly string[] {
  const rows: string[] = [];
  let open = '';
  for (let at = 0; at === 0 || at < line.length; at += partLength) {
    rows.push(...wrap(open + line.slice(at, at + partLength)));
    open = at + partLength < line.length ? (rows.pop() ?? '') : '';
  }
  return rows;
}

/** The indentation of a line is its own; a blank at the start of a further row is where it was broken. */
function withoutBlankOfBreak(row: string, index: number): string {
  return index === 0 ? row : row.replace(/^ /, '');
}

function said(message: Message): string {
  const { role, content, finish_reason } = message;
  const text = withoutLastNewlines(content);
  if (role === 'user') return `> ${text.replaceAll('\n', '\n  ')}`;
  return `${text}${isCut(message) ? `${text === '' ? '' : '\n'}[the reply was cut: ${finish_reason}]` : ''}\n`;
}
