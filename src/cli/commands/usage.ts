// `parley usage`: what the replies of this machine's store took. A table; on a terminal with a bar for each row.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { UsageQuery, UsageRecord } from '../../service/administration.ts';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import { toJson } from '../terminal/json.ts';
import { type Column, writeTable } from '../terminal/table.ts';

export interface UsageInput {
  /** Null for all time. */
  readonly days: number | null;
  readonly by: UsageQuery['by'];
}

export function registerUsage(parent: Command, run: Run): void {
  parent
    .command('usage')
    .description('sum up turns, tokens and times to the first token')
    .option('--days <number>', 'of the last so many days', days)
    .addOption(
      new Option('--by <group>', 'a row for each of these')
        .choices(['mode', 'session', 'day'])
        .default('mode'),
    )
    .action((flags: { days?: number; by: UsageQuery['by'] }, command: Command) =>
      run(command, (context) => runUsage({ days: flags.days ?? null, by: flags.by }, context)),
    );
}

const dayMs = 24 * 60 * 60 * 1000;

export async function runUsage({ days: count, by }: UsageInput, context: CliContext): Promise<undefined> {
  const { home } = await context.open();
  const since = count === null ? null : new Date(context.host.now() - count * dayMs).toISOString();
  const records = await home.administration.usage({ since, by });
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: records })}\n`);
    return;
  }
  const columns = columnsOf(by);
  await writeTable(
    context.stdout,
    context.stdout.isTerminal ? [...columns, barColumn(records)] : columns,
    records,
  );
  if (records.length === 0) await context.say('Nothing was said in this time.');
}

function columnsOf(by: UsageQuery['by']): readonly Column<UsageRecord>[] {
  return [
    { title: by.toUpperCase(), value: ({ group }) => group, flexible: by === 'mode' },
    { title: 'TURNS', value: ({ turns }) => String(turns) },
    { title: 'FAILED', value: ({ failed }) => String(failed) },
    { title: 'TOKENS IN', value: ({ input_tokens }) => String(input_tokens) },
    { title: 'TOKENS OUT', value: ({ output_tokens }) => String(output_tokens) },
    { title: 'FIRST TOKEN', value: ({ first_token_ms: ms }) => (ms === null ? '' : `${ms} ms`) },
  ];
}

const barCells = 16;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The tokens of each row beside those of the largest; where no engine counts, the turns. */
function barColumn(records: readonly UsageRecord[]): Column<UsageRecord> {
  const tokens = ({ input_tokens, output_tokens }: UsageRecord) => input_tokens + output_tokens;
  const counts = records.some((record) => tokens(record) > 0);
  const size = counts ? tokens : ({ turns }: UsageRecord) => turns;
  const largest = Math.max(1, ...records.map(size));
  return {
    title: counts ? 'TOKENS' : 'SHARE OF TURNS',
    value(record) {
      const length = Math.round((size(record) / largest) * barCells * 8);
      return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
    },
  };
}

function days(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new InvalidArgumentError('Give a whole number of days from 1 to 99999.');
}
