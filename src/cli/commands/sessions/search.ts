// `parley sessions search`: finds sessions by words in their messages, the best match first, with the matching passages.
import { type Command, Option } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { maxPageItems } from '../../../service/limits.ts';
import { type SearchItem, snippetMarks } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { helpNote } from '../../help-layout.ts';
import { writeNextPageHint } from '../../next-page-hint.ts';
import type { Run } from '../../run.ts';
import { sessionFacts, titleOrNone } from '../../session-table.ts';
import { shownTime } from '../../shown-time.ts';
import { targetOptions } from '../../target-options.ts';
import { oneLine } from '../../terminal/filter.ts';
import { toJson } from '../../terminal/json.ts';
import type { Style } from '../../terminal/style.ts';
import { cut } from '../../terminal/table.ts';
import { type OutputText, terminalText } from '../../terminal/terminal-text.ts';
import { throughPager } from '../../terminal/through-pager.ts';
import { utcOption } from '../../utc-option.ts';
import { wholeNumber } from '../../whole-number.ts';
import { SearchProgress } from './search-progress.ts';
import {
  addConditionOptions,
  type ConditionFlags,
  conditionNames,
  conditionsOf,
  conditionWords,
} from './session-filter.ts';

interface SearchFlags extends ConditionFlags {
  readonly limit: number;
  readonly cursor?: string;
  readonly utc?: boolean;
  readonly secrets?: true;
}

const gap = '  ';
const minTitleColumns = 12;

const usage = `
Finds messages that contain all the words, in any order, ignoring case and accents.`;

export function registerSearch(parent: Command, run: Run): void {
  const command = parent
    .command('search')
    .description('find sessions by words in their messages, the best match first')
    .argument('[query...]', 'words, "a phrase", prefix*')
    .addOption(
      new Option(
        '--secrets',
        'show where the sessions of the project contain keys, tokens, passwords and card numbers, but not the secrets themselves',
      ).conflicts(['limit', 'cursor', ...conditionNames]),
    )
    .option('--limit <n>', `how many sessions, 1 to ${maxPageItems}`, wholeNumber(1, maxPageItems), 20)
    .option('--cursor <cursor>', 'continue after the page that printed this cursor');
  addConditionOptions(command, 'only archived sessions (default: these and the others)')
    .addOption(utcOption())
    .addHelpText('after', helpNote(usage))
    .action(
      run(async (words: string[], flags: SearchFlags, context: CliContext) => {
        if (flags.secrets) return findSecrets(words, context);
        if (words.length === 0)
          throw new ParleyError('USAGE', 'There is nothing to search for.', {
            hint: 'Pass words, or use --secrets.',
          });
        return runSearch(words.join(' '), flags, context);
      }),
    );
}

/** Secrets have no ranking and no pages: each is printed when it is found. */
async function findSecrets(words: readonly string[], context: CliContext): Promise<void> {
  if (words.length > 0) {
    throw new ParleyError('USAGE', '--secrets searches every message, and cannot be combined with words.');
  }
  const { searchSecrets } = await import('./secret-search.ts');
  return searchSecrets(context);
}

/**
 * A terminal gets a few lines per session, through the pager if they are long. A pipe gets one line: id, score, time and role of the best hit,
 * snippet, title. `continueCommand` returns the command that continues a session.
 */
export async function runSearch(
  query: string,
  flags: SearchFlags,
  context: CliContext,
  continueCommand: (id: string) => string = (id) => {
    const words = ['parley', 'chat', ...targetOptions(context.options), '-s', id];
    return `${words.map(quoteForShell).join(' ')} "…"`;
  },
): Promise<void> {
  const { backend } = await context.open();
  const { now } = context.host;
  const progress = new SearchProgress(context);
  const call = await context.call();
  const { limit, cursor = null, utc = false } = flags;
  const conditions = conditionsOf(flags, now(), null);
  const { data, body } = await backend.archive
    .searchSessions(progress.watch(call), { query, limit, cursor, ...conditions })
    .finally(() => progress.stop());
  const { stdout } = context;
  if (context.options.json) await stdout.write(`${toJson(body)}\n`);
  else if (stdout.isTerminal) await writeItems(data.items, utc, context);
  else await stdout.write(data.items.map((item) => `${fields(item).map(oneLine).join('\t')}\n`).join(''));

  if (data.items.length === 0 && !context.options.json) await context.say('No session matches.');
  if (data.newest_only) {
    await context.say(
      'Only the newest 10,000 matching messages were ranked. Use more words to narrow the search.',
    );
  }
  if (data.next_cursor !== null) {
    const words = ['sessions', 'search', '--limit', String(limit)];
    if (utc) words.push('--utc');
    words.push(...conditionWords(conditions));
    await writeNextPageHint({ words, operands: ['--', query], all: false }, data.next_cursor, context);
  }
  const [best] = data.items;
  if (best !== undefined && stdout.isTerminal) {
    await context.say(`To continue the best match: ${continueCommand(best.session.session_id)}`);
  }
}

function fields({ session, score, hits }: SearchItem): readonly string[] {
  const [best] = hits;
  const hit = [best?.created_at ?? '', best?.role ?? '', best?.snippet ?? ''];
  return [session.session_id, String(score), ...hit, session.title ?? ''];
}

async function writeItems(items: readonly SearchItem[], utc: boolean, context: CliContext): Promise<void> {
  const { textWidth: measure } = await import('../../terminal/text-width.ts');
  const { glue, wrappedNotice } = await import('../../terminal/wrapped-line.ts');
  const now = context.host.now();
  await throughPager(context, async (output) => {
    const style = await output.style();
    for (const { session, hits } of items) {
      const columns = output.columns();
      const facts = output.visible(oneLine(sessionFacts(session, { columns, now, utc })));
      const room = Math.max(minTitleColumns, columns - measure(facts) - gap.length);
      const title = cut(output.visible(oneLine(titleOrNone(session))), room, measure);
      const texts = hits.map(async (hit) => {
        const who = output.visible(oneLine(`${hit.role}, ${shownTime(hit.created_at, now, { utc })}:`));
        const line = `  ${who.replaceAll(' ', glue)} ${output.visible(oneLine(hit.snippet))}`;
        const snippet = (await wrappedNotice(line, output)).slice(who.length + 3);
        return terminalText`  ${style.dim(who)} ${output.colour === 0 ? snippet : highlighted(snippet, style)}\n`;
      });
      const lines = await Promise.all(texts);
      const heading = session.title === null ? style.dim(title) : style.bold(title);
      await output.write(terminalText`${heading}${gap}${style.dim(facts)}\n${lines}\n`);
    }
  });
}

const hitInSnippet = new RegExp(`${snippetMarks.open}(.*?)${snippetMarks.close}`, 'gsu');

/** The snippet with colour instead of the marks. */
function highlighted(snippet: string, style: Style): readonly OutputText[] {
  return snippet
    .split(hitInSnippet)
    .map((part, index) => (index % 2 === 0 ? part : style.bold(style.green(part))));
}
