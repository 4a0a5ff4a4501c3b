// `parley sessions list`: sessions by last activity, the newest first. A table for a person, tab-separated for a pipe.
import { type Command, InvalidArgumentError } from 'commander';
import type { Session } from '../../../service/session.ts';
import type { SessionQuery } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';

export interface ListInput {
  readonly limit: number;
  readonly cursor: string | null;
  readonly all: boolean;
  readonly ids: boolean;
  readonly deleted: boolean;
  readonly titleMatch: string | null;
}

interface ListFlags {
  readonly limit: number;
  readonly cursor?: string;
  readonly all?: true;
  readonly ids?: true;
  readonly deleted?: true;
  readonly titleMatch?: string;
}

const largestPage = 200;

const columns: readonly Column<Session>[] = [
  { title: 'SESSION', value: ({ session_id }) => session_id },
  { title: 'MESSAGES', value: ({ message_count }) => String(message_count) },
  { title: 'LAST ACTIVITY', value: ({ updated_at }) => updated_at },
  { title: 'TITLE', value: ({ title }) => title ?? '', flexible: true },
];

export function registerList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list sessions, the last active first')
    .option('--limit <n>', `how many, 1 to ${largestPage}`, pageSize, 50)
    .option('--cursor <cursor>', 'go on where a page ended')
    .option('--all', 'all of them, page after page')
    .option('--ids', 'print ids alone, one per line')
    .option('--deleted', 'the deleted sessions instead of the active ones')
    .option('--title-match <glob>', 'only titles that match, with * ? [a-z]')
    .action((flags: ListFlags, command: Command) =>
      run(command, (context) =>
        runList(
          {
            limit: flags.all ? largestPage : flags.limit,
            cursor: flags.cursor ?? null,
            all: flags.all ?? false,
            ids: flags.ids ?? false,
            deleted: flags.deleted ?? false,
            titleMatch: flags.titleMatch ?? null,
          },
          context,
        ),
      ),
    );
}

function pageSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > largestPage) {
    throw new InvalidArgumentError(`Give a whole number from 1 to ${largestPage}.`);
  }
  return size;
}

export async function runList(input: ListInput, context: CliContext): Promise<undefined> {
  const { home } = await context.open();
  let query: SessionQuery = {
    limit: input.limit,
    cursor: input.cursor,
    title_match: input.titleMatch,
    updated_before: null,
    updated_after: null,
    deleted: input.deleted,
  };
  for (let first = true; ; first = false) {
    const { data, body } = await home.archive.listSessions(await context.call(), query);
    if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
    else await writePage(data.items, input.ids, first, context);
    if (data.next_cursor === null) return;
    query = { ...query, cursor: data.next_cursor };
    if (!input.all) break;
  }
  await context.say(`There are more: add --all, or go on with --cursor ${query.cursor}`);
}

async function writePage(
  sessions: readonly Session[],
  idsAlone: boolean,
  first: boolean,
  context: CliContext,
): Promise<void> {
  if (idsAlone) {
    await context.stdout.writeUntrusted(sessions.map(({ session_id }) => `${session_id}\n`).join(''));
    return;
  }
  await writeTable(context.stdout, columns, sessions, { titled: first });
}
