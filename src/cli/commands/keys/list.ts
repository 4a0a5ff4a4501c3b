// `parley keys list`: lists the records of the keys, never the keys themselves.
import type { Command } from 'commander';
import type { KeyRecord } from '../../../service/administration.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { timesIn } from '../../shown-time.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { utcOption } from '../../utc-option.ts';

const columnsOf = (time: (time: string) => string, now: number): readonly Column<KeyRecord>[] => [
  { title: 'KEY ID', value: ({ key_id }) => key_id },
  // An early column, so that a narrow terminal does not cut it.
  { title: 'STATUS', value: (key) => statusOf(key, now) },
  { title: 'PROJECT', value: ({ project_name }) => project_name, flexible: true },
  { title: 'NAME', value: ({ key_name }) => key_name, flexible: true },
  { title: 'CREATED', value: ({ created_at }) => time(created_at), omittedWhen: 'narrow' },
  {
    title: 'REVOKED',
    value: ({ revoked_at }) => (revoked_at === null ? '' : time(revoked_at)),
    omittedWhen: 'empty',
  },
  { title: 'SCOPE', value: ({ scope }) => scope ?? 'all' },
  { title: 'LAST USED', value: ({ last_used_at }) => (last_used_at === null ? 'never' : time(last_used_at)) },
  {
    title: 'EXPIRES',
    value: ({ expires_at }) => (expires_at === null ? '' : time(expires_at)),
    omittedWhen: 'empty',
  },
  { title: 'PER DAY', value: budgetsOf, omittedWhen: 'empty' },
];

function statusOf({ revoked_at, expires_at }: KeyRecord, now: number): string {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'valid';
}

function budgetsOf({ turns_per_day, tokens_per_day }: KeyRecord): string {
  const turns = turns_per_day === null ? [] : [counted(turns_per_day, 'turn')];
  return [...turns, ...(tokens_per_day === null ? [] : [counted(tokens_per_day, 'token')])].join(', ');
}

export function registerKeysList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list keys by id, without the keys themselves')
    .addOption(utcOption())
    .action(run(runKeysList));
}

export async function runKeysList(
  { utc = false }: { readonly utc?: boolean },
  context: CliContext,
): Promise<void> {
  const administration = await context.administration();
  const keys = await administration.listKeys();
  if (context.options.json) return context.stdout.write(successLine(keys));
  const now = context.host.now();
  await writeTable(context.stdout, columnsOf(timesIn(context.stdout, now, { utc }), now), keys);
}
