// `parley keys list`: the records of the keys, never the keys themselves.
import type { Command } from 'commander';
import type { KeyRecord } from '../../../service/administration.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { timesIn } from '../../shown-time.ts';
import { toJson } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { utcOption } from '../../utc-option.ts';

const columnsOf = (time: (time: string) => string): readonly Column<KeyRecord>[] => [
  { title: 'KEY ID', value: ({ key_id }) => key_id },
  // The column stands early, so that a narrow terminal does not cut it.
  { title: 'STATUS', value: ({ revoked_at }) => (revoked_at === null ? 'valid' : 'revoked') },
  { title: 'PROJECT', value: ({ project_name }) => project_name, flexible: true },
  { title: 'NAME', value: ({ key_name }) => key_name, flexible: true },
  { title: 'CREATED', value: ({ created_at }) => time(created_at) },
  { title: 'REVOKED', value: ({ revoked_at }) => (revoked_at === null ? '' : time(revoked_at)) },
];

export function registerKeysList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list keys by id; never the keys themselves')
    .addOption(utcOption())
    .action(({ utc }: { utc?: true }, command: Command) =>
      run(command, (context) => runKeysList({ utc: utc ?? false }, context)),
    );
}

export async function runKeysList(
  { utc }: { readonly utc: boolean },
  context: CliContext,
): Promise<undefined> {
  const administration = await context.administration();
  const keys = await administration.listKeys();
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: keys })}\n`);
    return;
  }
  await writeTable(context.stdout, columnsOf(timesIn(context.stdout, context.host.now(), { utc })), keys);
}
