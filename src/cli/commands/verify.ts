// `parley verify`: checks the key and shows what the server says about it.
import type { Command } from 'commander';
import type { Printing, ServiceAccess } from '../context.ts';
import type { Run } from '../run.ts';
import { filledFieldLines } from '../terminal/fields.ts';
import { toJson } from '../terminal/json.ts';

export function registerVerify(parent: Command, run: Run): void {
  parent
    .command('verify')
    .description('check the key, and show what it resolves to')
    .action((_options, command: Command) => run(command, runVerify));
}

export async function runVerify(context: ServiceAccess & Printing): Promise<undefined> {
  const { backend } = await context.open();
  const { data, body } = await backend.service.verify(await context.call());
  if (context.options.json) {
    await context.stdout.write(`${toJson(body)}\n`);
    return;
  }
  await context.stdout.write(filledFieldLines(data));
}
