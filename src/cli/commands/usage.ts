// `parley usage`: turns, tokens and latencies of the replies in this machine's store. A terminal gets a table that fits its width.
import { type Command, Option } from 'commander';
import type { UsageQuery } from '../../service/administration.ts';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import { successLine } from '../terminal/json.ts';
import { writeTable } from '../terminal/table.ts';
import { wholeNumber } from '../whole-number.ts';
import { columnsThatFit, usageColumns, usageLines } from './usage/usage-layout.ts';

interface UsageFlags {
  /** Without it, all time. */
  readonly days?: number;
  readonly by: UsageQuery['by'];
}

export function registerUsage(parent: Command, run: Run): void {
  parent
    .command('usage')
    .description('show turns, tokens and times to the first token')
    .option('--days <number>', 'only the last n times 24 hours (default: all)', wholeNumber(1, 99_999))
    .addOption(
      new Option('--by <group>', 'what each row is; days are in UTC')
        .choices(['mode', 'session', 'day'])
        .default('mode'),
    )
    .action(run(runUsage));
}

const dayMs = 24 * 60 * 60 * 1000;

export async function runUsage({ days: count, by }: UsageFlags, context: CliContext): Promise<void> {
  const administration = await context.administration();
  const since = count === undefined ? null : new Date(context.host.now() - count * dayMs).toISOString();
  const records = await administration.usage({ since, by });
  if (context.options.json) return context.stdout.write(successLine(records));
  const { stdout } = context;
  const columns = stdout.isTerminal ? columnsThatFit(by, records, stdout.columns()) : usageColumns(by);
  if (columns !== null) await writeTable(stdout, columns, records);
  else if (records.length > 0) await stdout.write(records.flatMap(usageLines).join('\n').concat('\n'));
  if (records.length === 0) await context.say('No turns in this period.');
}
