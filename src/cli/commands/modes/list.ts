// `parley modes list`: lists the modes of the embedded service, with the server and the key of each model.
import type { Command } from 'commander';
import type { ModeRecord } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { ownModes } from './own-modes.ts';

const columns: readonly Column<ModeRecord>[] = [
  { title: 'DEFAULT', value: (mode) => (mode.default ? '*' : '') },
  { title: 'MODE', value: ({ name }) => name },
  { title: 'MODEL', value: ({ model }) => model ?? '', flexible: true },
  { title: 'SERVER', value: server, flexible: true },
  { title: 'KEY', value: ({ settings }) => settings?.key ?? '', flexible: true },
  { title: 'FALLBACK', value: ({ settings }) => settings?.fallback ?? '' },
];

function server({ settings, problem }: ModeRecord): string {
  return settings?.base_url ?? (problem === null ? 'built in' : 'faulty');
}

export function registerModesList(parent: Command, run: Run): void {
  parent
    .command('list')
    .description('list the modes with their servers; * marks the default')
    .action(run(runModesList));
}

export async function runModesList(context: CliContext): Promise<void> {
  const modes = (await (await ownModes(context)).read()).list();
  if (context.options.json) return context.stdout.write(successLine(modes));
  await writeTable(context.stdout, columns, modes);
  for (const { name, problem } of modes) {
    if (problem !== null)
      await context.say(`Mode ${name} is invalid. ${problem} See: parley modes show ${name}`);
  }
}
