// Shows the last messages of a continued session: as many as fit on the screen, and dimmed, so that they do not look new. Replies are rendered
// as new ones are, but without a look of each element, because the whole text is dimmed.
import { hasCode } from '../../service/errors.ts';
import { isCut, isFromElsewhere, type Message } from '../../service/session.ts';
import type { CliContext } from '../context.ts';
import { withoutLastNewlines } from '../end-of-text.ts';
import { filterText } from '../terminal/filter.ts';
import type { Output } from '../terminal/output.ts';
import { type MarkdownChoice, rendersMarkdown } from '../terminal/reply-writer.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { lastMessages } from './last-messages.ts';

/** Rows left free for the prompt and for the lines above. */
const freeRows = 4;
const charactersOfCell = 4;
const partLength = 1000;
/** Rendering a longer reply (in UTF-16 units) could delay the prompt. Its Markdown is shown as it is. */
const maxRenderedLength = 50_000;

/**
 * Returns the mode of the last turn. Null if there is no message, if the last turn was imported from another program, or if the server
 * lists no messages (the function then says so).
 */
export async function showPastTurns(
  sessionId: string,
  markdown: MarkdownChoice,
  context: CliContext,
): Promise<string | null> {
  const { stdout } = context;
  let messages: readonly Message[];
  // Each message takes at least one row, so no more messages than rows are needed.
  const maxRows = Math.max(1, (stdout.stream.rows || 24) - freeRows);
  try {
    messages = await lastMessages(sessionId, maxRows, context);
  } catch (error) {
    if (!hasCode(error, 'UNSUPPORTED')) throw error;
    await context.say('This server does not show earlier messages. The conversation still continues.');
    return null;
  }
  if (messages.length === 0) return null;
  const { default: wrapAnsi } = await import('wrap-ansi');
  const columns = stdout.columns();
  const wrap = (line: string) => wrapAnsi(line, columns, { hard: true, trim: false }).split('\n');
  const renderReply = rendersMarkdown(stdout, markdown)
    ? await markdownRenderer(stdout)
    : (reply: string) => reply;
  const rowsOf = (message: Message) =>
    filterText(endOf(textOf(message, renderReply), maxRows * columns))
      .replaceAll('\t', '    ')
      .split('\n')
      .flatMap((line) => wrapInParts(line, wrap).map(withoutBlankOfBreak));
  // The newest messages first: once the screen is full, the earlier ones are not rendered.
  let rows: readonly string[] = [];
  for (const message of messages.toReversed())
    if (rows.length <= maxRows) rows = [...rowsOf(message), ...rows];
  const { dim } = await stdout.style();
  const shown = rows.length > maxRows ? ['…', ...rows.slice(1 - maxRows)] : rows;
  for (const row of shown) await stdout.write(terminalText`${row === '' ? '' : dim(row)}\n`);
  const lastMessage = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1);
  return lastMessage === undefined || isFromElsewhere(lastMessage) ? null : lastMessage.mode;
}

/** Returns more than a screen of that many cells can show, because a cell may hold several characters. */
function endOf(text: string, cells: number): string {
  const maxCharacters = charactersOfCell * cells;
  return text.length > maxCharacters ? `…${text.slice(-maxCharacters)}` : text;
}

/**
 * Wraps a line in parts, because `wrap-ansi` takes quadratic time for words without spaces. Each part begins with the unfinished row of
 * the part before it.
 */
function wrapInParts(line: string, wrap: (part: string) => string[]): readonly string[] {
  const rows: string[] = [];
  let open = '';
  for (let at = 0; at === 0 || at < line.length; at += partLength) {
    rows.push(...wrap(open + line.slice(at, at + partLength)));
    open = at + partLength < line.length ? (rows.pop() ?? '') : '';
  }
  return rows;
}

/** The first row keeps the indentation of its line. The rows after a line break lose the space at the break. */
function withoutBlankOfBreak(row: string, index: number): string {
  return index === 0 ? row : row.replace(/^ /, '');
}

/** Returns a function that renders the Markdown of a reply as lines without SGR codes. */
async function markdownRenderer(stdout: Output): Promise<(reply: string) => string> {
  const [{ MarkdownDocument }, { dimmedTheme }, { textWidth }] = await Promise.all([
    import('../terminal/markdown/document.ts'),
    import('../terminal/markdown/theme.ts'),
    import('../terminal/text-width.ts'),
  ]);
  return (reply) => {
    if (reply.length > maxRenderedLength) return reply;
    const document = new MarkdownDocument({
      columns: () => stdout.columns(),
      theme: dimmedTheme,
      measure: textWidth,
      highlighting: () => null,
    });
    return document.push(filterText(reply)) + document.end();
  };
}

function textOf(message: Message, renderReply: (reply: string) => string): string {
  const { role, content, finish_reason } = message;
  if (role === 'user') return `> ${withoutLastNewlines(content).replaceAll('\n', '\n  ')}`;
  const text = withoutLastNewlines(renderReply(content));
  return `${text}${isCut(message) ? `${text === '' ? '' : '\n'}[the reply was cut off: ${finish_reason}]` : ''}\n`;
}
