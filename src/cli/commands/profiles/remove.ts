// `parley profiles remove`: removes a profile with its URL and its key.
import type { Command } from 'commander';
import { removeProfile } from '../../../config/profiles.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerProfilesRemove(parent: Command, run: Run): void {
  parent
    .command('remove')
    .description('remove a profile with its URL and key')
    .argument('<name>', 'the profile, as shown by profiles list')
    .action(run(runProfilesRemove));
}

export async function runProfilesRemove(name: string, context: CliContext): Promise<void> {
  await context.host.profileFile.update((config) => removeProfile(config, name));
  if (context.options.json) await context.stdout.write(successLine({ removed: name }));
  else await context.say(`Removed profile ${name}.`);
}
