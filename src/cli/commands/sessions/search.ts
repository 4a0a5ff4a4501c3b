// `parley sessions search`: sessions by words in their messages, the best first, each with the passages that match.
import type { Command } from 'commander';
import { largestPage } from '../../../service/limits.ts';
import { type SearchItem, snippetMarks } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import { ageInWords } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { tellNextPage } from '../../next-page-hint.ts';
import type { Run } from '../../run.ts';
import { placeOptions } from '../../same-place.ts';
import { oneLine } from '../../terminal/filter.ts';
import { toJson } from '../../terminal/json.ts';
import { waiting } from '../../terminal/progress.ts';
import type { Style } from '../../terminal/style.ts';
import { type OutputText, terminalText } from '../../terminal/terminal-text.ts';
import { startTimer } from '../../terminal/timer.ts';
import { wholeNumber } from '../../whole-number.ts';

export interface SearchInput {
  readonly query: string;
  readonly limit: number;
  readonly cursor: string | null;
}

interface SearchFlags {
  readonly limit: number;
  readonly cursor?: string;
}

const usage = `
A message is found that has all the words, in any order, whatever their case and accents:
  parley sessions search backup restore
  parley sessions search '"exit status" deploy*'   a phrase, and words that begin so
`;

export function registerSearch(parent: Command, run: Run): void {
  parent
    .command('search')
    .description('find sessions by words in their messages, the best first')
    .argument('<query...>', 'words, "a phrase", begin*')
    .option('--limit <n>', `how many sessions, 1 to ${largestPage}`, wholeNumber(1, largestPage), 20)
    .option('--cursor <cursor>', 'go on where a page ended')
    .addHelpText('after', usage)
    .action((words: string[], { limit, cursor }: SearchFlags, command: Command) =>
      run(command, (context) =>
        runSearch({ query: words.join(' '), limit, cursor: cursor ?? null }, context),
      ),
    );
}

/**
 * A terminal gets a few lines a session, a pipe one line: id, score, time and role of the best hit, snippet, title. `goOn` gives the
 * command that continues a session.
 */
export async function runSearch(
  input: SearchInput,
  context: CliContext,
  goOn: (id: string) => string = (id) => {
    const words = ['parley', 'chat', ...placeOptions(context.options), '-s', id];
    return `${words.map(quoteForShell).join(' ')} "…"`;
  },
): Promise<undefined> {
  const { backend } = await context.open();
  // The search first adds the messages since the last search to the index. After an upgrade these may be all messages.
  const { now } = context.host;
  const spinner = waiting(() => context.stderr, 'Searching', {
    quiet: context.options.quiet,
    startTimer,
    now,
  });
  const call = await context.call();
  const { data, body } = await backend.archive.searchSessions(call, input).finally(() => spinner.stop());
  const { stdout } = context;
  if (context.options.json) await stdout.write(`${toJson(body)}\n`);
  else if (stdout.isTerminal) for (const item of data.items) await writeItem(item, context);
  else await stdout.write(data.items.map((item) => `${fields(item).map(oneLine).join('\t')}\n`).join(''));

  if (data.items.length === 0 && !context.options.json) await context.say('No session matches.');
  if (data.newest_only) {
    await context.say(
      'So many messages have this that the newest 10,000 of them were ranked; more words find less.',
    );
  }
  if (data.next_cursor !== null) {
    const words = ['sessions', 'search', '--limit', String(input.limit)];
    await tellNextPage({ words, operands: ['--', input.query], all: false }, data.next_cursor, context);
  }
  const [best] = data.items;
  if (best !== undefined && stdout.isTerminal) {
    await context.say(`Go on with the best: ${goOn(best.session.session_id)}`);
  }
}

function fields({ session, score, hits }: SearchItem): readonly string[] {
  const [best] = hits;
  const hit = [best?.created_at ?? '', best?.role ?? '', best?.snippet ?? ''];
  return [session.session_id, String(score), ...hit, session.title ?? ''];
}

async function writeItem({ session, hits }: SearchItem, { stdout, host }: CliContext): Promise<void> {
  const style = await stdout.style();
  const title = session.title === null ? style.dim('(no title)') : style.bold(oneLine(session.title));
  const lines = hits.map((hit) => {
    const who = oneLine(`${hit.role}, ${ageInWords(hit.created_at, host.now())}:`);
    const snippet = oneLine(hit.snippet);
    return terminalText`  ${style.dim(who)} ${stdout.colour === 0 ? snippet : highlighted(snippet, style)}\n`;
  });
  await stdout.write(terminalText`${style.cyan(oneLine(session.session_id))}  ${title}\n${lines}\n`);
}

const hitInSnippet = new RegExp(`${snippetMarks.open}(.*?)${snippetMarks.close}`, 'gu');

/** Colour in place of the marks. */
function highlighted(snippet: string, style: Style): readonly OutputText[] {
  return snippet
    .split(hitInSnippet)
    .map((part, index) => (index % 2 === 0 ? part : style.bold(style.green(part))));
}
