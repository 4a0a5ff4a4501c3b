// `parley sessions list`: sessions by last activity or by creation, the newest or the oldest first. A terminal gets a table, a pipe gets
// lines with tabs.
import { type Command, Option } from 'commander';
import { largestPage } from '../../../service/limits.ts';
import type { Session } from '../../../service/session.ts';
import type { SessionOrder, SessionQuery } from '../../../service/session-archive.ts';
import { type PointInTime, pointInTime, timeOf } from '../../age.ts';
import type { CliContext, Printing } from '../../context.ts';
import { everyPage } from '../../every-page.ts';
import { tellNextPage } from '../../next-page-hint.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { wholeNumber } from '../../whole-number.ts';

export interface ListInput {
  readonly limit: number;
  readonly cursor: string | null;
  readonly all: boolean;
  readonly ids: boolean;
  readonly deleted: boolean;
  readonly titleMatch: string | null;
  /** Last activity before this time, and at or after it. */
  readonly olderThan: PointInTime | null;
  readonly newerThan: PointInTime | null;
  readonly sort: SessionOrder['sort'];
  /** The oldest first. */
  readonly reverse: boolean;
}

interface ListFlags {
  readonly limit?: number;
  readonly cursor?: string;
  readonly all?: true;
  readonly ids?: true;
  readonly deleted?: true;
  readonly titleMatch?: string;
  readonly olderThan?: PointInTime;
  readonly newerThan?: PointInTime;
  readonly sort: SessionOrder['sort'];
  readonly reverse?: true;
}

/** The list shows the time that it is sorted by, as `ls` does. */
const timeColumn: Readonly<Record<SessionOrder['sort'], Column<Session>>> = {
  updated: { title: 'LAST ACTIVITY', value: ({ updated_at }) => updated_at },
  created: { title: 'CREATED', value: ({ created_at }) => created_at },
};

const columnsOf = (sort: SessionOrder['sort']): readonly Column<Session>[] => [
  { title: 'SESSION', value: ({ session_id }) => session_id },
  { title: 'MESSAGES', value: ({ message_count }) => String(message_count) },
  timeColumn[sort],
  { title: 'TITLE', value: ({ title }) => title ?? '', flexible: true },
];

export function registerList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list sessions, the last active first, or in another order')
    .option(
      '--limit <n>',
      `how many, 1 to ${largestPage} (default: 50; with --ids all)`,
      wholeNumber(1, largestPage),
    )
    .option('--cursor <cursor>', 'go on where a page ended')
    .addOption(new Option('--all', 'all of them, page after page').conflicts('limit'))
    .option('--ids', 'print ids alone, one per line: all of them, unless --limit is given')
    .option('--deleted', 'the deleted sessions instead of the active ones')
    .option('--title-match <glob>', 'only titles that match, with * ? [a-z]')
    .option('--older-than <when>', 'only last active before: 90m, 12h, 30d, 8w, or a date', pointInTime)
    .option('--newer-than <when>', 'only last active since', pointInTime)
    .addOption(
      new Option('--sort <time>', 'by last activity or by creation, the time that is then shown')
        .choices(Object.keys(timeColumn))
        .default('updated'),
    )
    .option('--reverse', 'the oldest first')
    .action((flags: ListFlags, command: Command) =>
      run(command, (context) =>
        runList(
          {
            limit: flags.limit ?? (wantsAll(flags) ? largestPage : 50),
            cursor: flags.cursor ?? null,
            all: wantsAll(flags),
            ids: flags.ids ?? false,
            deleted: flags.deleted ?? false,
            titleMatch: flags.titleMatch ?? null,
            olderThan: flags.olderThan ?? null,
            newerThan: flags.newerThan ?? null,
            sort: flags.sort,
            reverse: flags.reverse ?? false,
          },
          context,
        ),
      ),
    );
}

/** `--ids` lists all: its output goes to a pipe, where nobody sees that a page is not the whole. */
function wantsAll({ all, ids, limit }: ListFlags): boolean {
  return all === true || (ids === true && limit === undefined);
}

export async function runList(input: ListInput, context: CliContext): Promise<undefined> {
  const { backend } = await context.open();
  const query = {
    limit: input.limit,
    title_match: input.titleMatch,
    id_suffix: null,
    updated_before: input.olderThan === null ? null : timeOf(input.olderThan, context.host.now()),
    updated_after: input.newerThan === null ? null : timeOf(input.newerThan, context.host.now()),
    deleted: input.deleted,
    sort: input.sort,
    order: input.reverse ? 'asc' : 'desc',
  } as const;
  const ask = async (cursor: string | null) =>
    backend.archive.listSessions(await context.call(), { ...query, cursor });
  let first = true;
  for await (const { data, body } of everyPage(ask, input.cursor)) {
    await writePage(data.items, body, input, first, context);
    if (first && data.items.length === 0) await tellNothing(input, context);
    first = false;
    if (input.all) continue;
    if (data.next_cursor !== null) {
      const line = { words: wordsOf(input, query), operands: [], all: true };
      await tellNextPage(line, data.next_cursor, context);
    }
    return;
  }
}

async function tellNothing(input: ListInput, context: Printing): Promise<void> {
  // The command that reads the ids from the pipe says that there are none.
  if (context.options.json || (input.ids && !context.stdout.isTerminal)) return;
  const { cursor, deleted, titleMatch, olderThan, newerThan } = input;
  const isNarrowed = deleted || [cursor, titleMatch, olderThan, newerThan].some((given) => given !== null);
  await context.say(isNarrowed ? 'No session matches.' : 'There is no session yet.');
}

async function writePage(
  sessions: readonly Session[],
  body: unknown,
  { ids: idsAlone, sort }: ListInput,
  first: boolean,
  context: Printing,
): Promise<void> {
  const { json } = context.options;
  if (idsAlone) {
    const lines = sessions.map(({ session_id }) => (json ? toJson({ session_id }) : session_id));
    await context.stdout.write(lines.map((line) => `${line}\n`).join(''));
  } else if (json) {
    await context.stdout.write(`${toJson(body)}\n`);
  } else {
    await writeTable(context.stdout, columnsOf(sort), sessions, { titled: first });
  }
}

/** This command line without the cursor. Ages are given as times, so that all pages of a listing share them. */
function wordsOf(input: ListInput, query: Omit<SessionQuery, 'cursor'>): readonly string[] {
  return [
    'sessions',
    'list',
    '--limit',
    String(input.limit),
    ...(input.ids ? ['--ids'] : []),
    ...(input.deleted ? ['--deleted'] : []),
    ...(query.title_match === null ? [] : ['--title-match', query.title_match]),
    ...(query.updated_before === null ? [] : ['--older-than', query.updated_before]),
    ...(query.updated_after === null ? [] : ['--newer-than', query.updated_after]),
    ...(input.sort === 'updated' ? [] : ['--sort', input.sort]),
    ...(input.reverse ? ['--reverse'] : []),
  ];
}
