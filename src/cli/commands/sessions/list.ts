// `parley sessions list`: lists sessions by last activity or creation. A terminal gets a table, through the pager if it is long; a pipe gets
// tab-separated lines.
import { type Command, Option } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { maxPageItems } from '../../../service/limits.ts';
import type { Session } from '../../../service/session.ts';
import { anySession, type SessionOrder, type SessionQuery } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import { everyPage } from '../../every-page.ts';
import { writeNextPageHint } from '../../next-page-hint.ts';
import type { Run } from '../../run.ts';
import { sessionColumns } from '../../session-table.ts';
import { toJson } from '../../terminal/json.ts';
import type { Output } from '../../terminal/output.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { pagerCommand, throughPager } from '../../terminal/through-pager.ts';
import { utcOption } from '../../utc-option.ts';
import { wholeNumber } from '../../whole-number.ts';
import {
  addConditionOptions,
  type ConditionFlags,
  conditionFlagsOf,
  conditionsOf,
  conditionWords,
} from './session-filter.ts';

interface ListFlags extends ConditionFlags {
  /** Without it, the default of the pipe or the screen. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly all?: true;
  readonly ids?: true;
  readonly deleted?: boolean;
  readonly sort: SessionOrder['sort'];
  /** Lists the oldest first. */
  readonly reverse?: true;
  readonly utc?: boolean;
}

const defaultLimit = 50;
/** Rows of a screen that show no session: the column titles, the hint below, and the next prompt. */
const otherRows = 4;
const minRows = 5;

const timeColumn: Readonly<Record<SessionOrder['sort'], Column<Session>>> = {
  updated: { title: 'LAST ACTIVITY', value: ({ updated_at }) => updated_at },
  created: { title: 'CREATED', value: ({ created_at }) => created_at },
};

/** The columns in a pipe. They must not change, because programs read them. */
const pipeColumns = (sort: SessionOrder['sort']): readonly Column<Session>[] => [
  { title: 'SESSION', value: ({ session_id }) => session_id },
  { title: 'MESSAGES', value: ({ message_count }) => String(message_count) },
  timeColumn[sort],
  { title: 'TITLE', value: ({ title }) => title ?? '' },
];

export function registerList(parent: Command, run: Run): void {
  const command = parent
    .command('list')
    .description('list sessions, the most recently active first')
    .option(
      '--limit <n>',
      `how many, 1 to ${maxPageItems} (default: ${defaultLimit}, or what fits on the screen without a pager; with --ids all)`,
      wholeNumber(1, maxPageItems),
    )
    .option('--cursor <cursor>', 'continue after the page that printed this cursor')
    .addOption(new Option('--all', 'list all of them, without a limit').conflicts('limit'))
    .option('--ids', 'print only ids, one per line: all of them, unless --limit is set')
    .option('--deleted', 'list deleted sessions instead of active ones');
  addConditionOptions(command)
    .addOption(
      new Option('--sort <time>', 'sort by last activity or by creation, and show that time')
        .choices(Object.keys(timeColumn))
        .default('updated'),
    )
    .option('--reverse', 'list the oldest first')
    .addOption(utcOption())
    .action(run(runList));
}

/** `--ids` lists all, because its output goes to a pipe, where nobody notices that a page is incomplete. */
function wantsAll({ all, ids, limit }: ListFlags): boolean {
  return all === true || (ids === true && limit === undefined);
}

export async function runList(flags: ListFlags, context: CliContext): Promise<void> {
  const { backend } = await context.open();
  const all = wantsAll(flags);
  const { deleted = false } = flags;
  const query = {
    limit: flags.limit ?? (all ? maxPageItems : limitFor(context)),
    ...conditionsOf(flags, context.host.now(), deleted ? null : false),
    id_suffix: null,
    deleted,
    sort: flags.sort,
    order: flags.reverse ? 'asc' : 'desc',
  } as const;
  const fetchPage = async (cursor: string | null) =>
    backend.archive.listSessions(await context.call(), { ...query, cursor });
  let next: string | null = null;
  let count = 0;
  await throughPager(context, async (output) => {
    for await (const { data, body } of everyPage(fetchPage, flags.cursor)) {
      const isFirst = count === 0;
      if (context.options.json && !flags.ids) await output.write(`${toJson(body)}\n`);
      else await writeSessions(data.items, { ...flags, isFirst }, output, context);
      count += data.items.length;
      next = data.next_cursor;
      if (!all || output.gone.aborted) return;
    }
  });
  if (count === 0) await reportNone(flags, context);
  if (next === null || all) return;
  const line = { words: wordsOf(flags, query), operands: [], all: flags.limit === undefined };
  await writeNextPageHint(line, next, context);
}

function limitFor({ stdout, options, host }: CliContext): number {
  const { rows } = stdout.stream;
  if (!stdout.isTerminal || rows === undefined || pagerCommand(stdout, options, host.env) !== null)
    return defaultLimit;
  return Math.min(defaultLimit, Math.max(minRows, rows - otherRows));
}

async function reportNone(flags: ListFlags, context: CliContext): Promise<void> {
  // The command that reads the ids from the pipe reports that there are none.
  if (context.options.json || context.options.quiet || (flags.ids && !context.stdout.isTerminal)) return;
  const { cursor, deleted } = flags;
  const isNarrowed = deleted || cursor !== undefined || Object.keys(conditionFlagsOf(flags)).length > 0;
  if (isNarrowed) await context.say('No session matches.');
  else if (await hasSessions({ archived: true }, context)) {
    await context.say('All sessions are archived. See: parley sessions list --archived');
  } else if (await hasSessions({ deleted: true }, context)) {
    await context.say('All sessions are deleted. See: parley sessions list --deleted');
  } else await context.say('There are no sessions yet.');
}

/** The listing itself has succeeded. A failure here, for example of a server without these filters, counts as no. */
async function hasSessions(filter: Partial<SessionQuery>, context: CliContext): Promise<boolean> {
  const { backend } = await context.open();
  const query = { ...anySession, ...filter, limit: 1, cursor: null };
  try {
    return (await backend.archive.listSessions(await context.call(), query)).data.items.length > 0;
  } catch (error) {
    if (error instanceof ParleyError) return false;
    throw error;
  }
}

async function writeSessions(
  sessions: readonly Session[],
  { ids: onlyIds, sort, utc = false, isFirst }: ListFlags & { readonly isFirst: boolean },
  output: Output,
  { options, host }: CliContext,
): Promise<void> {
  if (onlyIds) {
    const lines = sessions.map(({ session_id }) => (options.json ? toJson({ session_id }) : session_id));
    return output.write(lines.map((line) => `${line}\n`).join(''));
  }
  const layout = { columns: output.columns(), now: host.now(), utc };
  const columns = output.isTerminal ? sessionColumns(sessions, sort, layout) : pipeColumns(sort);
  await writeTable(output, columns, sessions, { titled: isFirst });
}

/** This command line without the cursor. Ages become times, so that all pages of a listing use the same ones. */
function wordsOf(flags: ListFlags, query: Omit<SessionQuery, 'cursor'>): readonly string[] {
  return [
    'sessions',
    'list',
    '--limit',
    String(query.limit),
    ...(flags.ids ? ['--ids'] : []),
    ...(flags.deleted ? ['--deleted'] : []),
    ...conditionWords(query),
    ...(flags.sort === 'updated' ? [] : ['--sort', flags.sort]),
    ...(flags.reverse ? ['--reverse'] : []),
    ...(flags.utc ? ['--utc'] : []),
  ];
}
