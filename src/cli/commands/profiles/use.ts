// `parley profiles use`: sets the default profile.
import type { Command } from 'commander';
import { useProfile } from '../../../config/profiles.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerProfilesUse(parent: Command, run: Run): void {
  parent
    .command('use')
    .description('use this profile from now on')
    .argument('<name>', 'the profile, as shown by profiles list')
    .action(run(runProfilesUse));
}

export async function runProfilesUse(name: string, context: CliContext): Promise<void> {
  await context.host.profileFile.update((config) => useProfile(config, name));
  if (context.options.json) await context.stdout.write(successLine({ current: name }));
  else await context.say(`Profile ${name} is now in use.`);
}
