// `parley audit list`: lists the newest entries of the audit log, in their order.
import type { Command } from 'commander';
import type { AuditEntry } from '../../../service/audit-entry.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { timesIn } from '../../shown-time.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { utcOption } from '../../utc-option.ts';
import { wholeNumber } from '../../whole-number.ts';
import { type AuditFilter, auditFilter, queryOf } from './audit-filter.ts';

interface AuditListFlags extends AuditFilter {
  readonly limit: number;
  readonly utc?: boolean;
}

const columnsOf = (time: (time: string) => string): readonly Column<AuditEntry>[] => [
  { title: 'NUMBER', value: ({ number }) => String(number) },
  { title: 'TIME', value: (entry) => time(entry.time) },
  { title: 'WHAT', value: ({ what }) => what },
  { title: 'COUNT', value: ({ count }) => String(count) },
  { title: 'KEY ID', value: ({ key_id }) => key_id ?? '', omittedWhen: 'narrow' },
  { title: 'PROJECT ID', value: ({ project_id }) => project_id ?? '', omittedWhen: 'narrow' },
  { title: 'REQUEST ID', value: ({ request_id }) => request_id ?? '', omittedWhen: 'narrow' },
  { title: 'IDS', value: shortenedIds, flexible: true },
];

/** The first id and the number of the others. The JSON has all ids. */
function shortenedIds({ ids }: AuditEntry): string {
  const [first = ''] = ids;
  return ids.length > 1 ? `${first} and ${ids.length - 1} more` : first;
}

export function registerAuditList(parent: Command, run: Run): void {
  auditFilter(parent.command('list'))
    .description('list the newest entries, the latest last')
    .option('--limit <n>', 'how many of the newest entries', wholeNumber(1, 100_000), 50)
    .addOption(utcOption())
    .action(run(runAuditList));
}

export async function runAuditList(
  { limit, utc = false, ...filter }: AuditListFlags,
  context: CliContext,
): Promise<void> {
  const administration = await context.administration();
  const shown = await administration.newestAuditEntries(await queryOf(filter, context), limit);
  if (context.options.json) return context.stdout.write(successLine(shown));
  await writeTable(context.stdout, columnsOf(timesIn(context.stdout, context.host.now(), { utc })), shown);
  if (shown.length === 0) await context.say('No entries match.');
}
