// `parley models`: lists the modes to chat in, with the default marked.
import type { Command } from 'commander';
import type { Mode } from '../../service/mode.ts';
import type { Printing, ServiceAccess } from '../context.ts';
import type { Run } from '../run.ts';
import { toJson } from '../terminal/json.ts';
import { type Column, writeTable } from '../terminal/table.ts';

const columns: readonly Column<Mode>[] = [
  { title: 'DEFAULT', value: (mode) => (mode.default ? '*' : '') },
  { title: 'MODE', value: ({ name }) => name },
  { title: 'ENGINE', value: ({ engine }) => engine },
  { title: 'MODEL', value: ({ model }) => model ?? '' },
  { title: 'DESCRIPTION', value: ({ description }) => description, flexible: true },
];

export function registerModels(parent: Command, run: Run): void {
  parent
    .command('models')
    .description('list the available modes; * marks the default')
    .action(run(runModels));
}

export async function runModels(context: ServiceAccess & Printing): Promise<void> {
  const { backend } = await context.open();
  const { data, body } = await backend.service.models(await context.call());
  if (context.options.json) return context.stdout.write(`${toJson(body)}\n`);
  await writeTable(context.stdout, columns, data);
  // The modes of a third-party server have neither engine nor model.
  if (data.every(({ engine, model }) => engine !== '' && model === null)) {
    await context.say(
      'These modes need no model, no provider key and no network. To set up a language model: parley setup' +
        '\nOr use a server that has one: parley login --url URL',
    );
  }
}
