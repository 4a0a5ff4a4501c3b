// `parley verify`: checks the key and shows what it belongs to.
import type { Command } from 'commander';
import type { CliContext, Printing, ServiceAccess } from '../context.ts';
import type { Run } from '../run.ts';
import { timesIn } from '../shown-time.ts';
import { filledFieldLines } from '../terminal/fields.ts';
import { toJson } from '../terminal/json.ts';
import { utcOption } from '../utc-option.ts';

export function registerVerify(parent: Command, run: Run): void {
  parent
    .command('verify')
    .description('check the key, and show its project')
    .addOption(utcOption())
    .action(run(runVerify));
}

export async function runVerify(
  { utc = false }: { readonly utc?: boolean },
  context: ServiceAccess & Printing & Pick<CliContext, 'host'>,
): Promise<void> {
  const { backend } = await context.open();
  const { data, body } = await backend.service.verify(await context.call());
  if (context.options.json) return context.stdout.write(`${toJson(body)}\n`);
  await context.stdout.write(filledFieldLines(data, timesIn(context.stdout, context.host.now(), { utc })));
}
