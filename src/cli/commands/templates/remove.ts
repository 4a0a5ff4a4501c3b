// `parley templates remove`: removes the file of a template. Its sessions keep their settings.
import type { Command } from 'commander';
import { templatesOf } from '../../chat-template.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerTemplatesRemove(parent: Command, run: Run): void {
  parent
    .command('remove')
    .description('remove a template; its sessions keep their settings')
    .argument('<name>', 'the template, as shown by templates list')
    .action(run(runTemplatesRemove));
}

export async function runTemplatesRemove(name: string, context: CliContext): Promise<void> {
  templatesOf(context.host).remove(name);
  if (context.options.json) await context.stdout.write(successLine({ name }));
  else await context.say(`Removed template ${name}.`);
}
