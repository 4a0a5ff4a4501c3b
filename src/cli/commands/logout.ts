// `parley logout`: removes the keys of a profile, and keeps the address of its server or store.
import type { Command } from 'commander';
import { localProfile, putProfile, requireProfile } from '../../config/profiles.ts';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import { successLine } from '../terminal/json.ts';

export function registerLogout(parent: Command, run: Run): void {
  parent
    .command('logout')
    .description('remove the key of the profile in use, or of --profile')
    .action(run(runLogout));
}

export async function runLogout(context: CliContext): Promise<void> {
  const { profile } = context.resolve('report');
  if (profile === null || profile === localProfile) {
    throw new ParleyError('USAGE', 'No server profile is in use, so there is nothing to log out of.', {
      hint: 'Name a profile with --profile. The store on this machine needs no login.',
    });
  }
  await context.host.profileFile.update((config) =>
    putProfile(config, profile, {
      ...requireProfile(config, profile, null),
      key: null,
      keys: {},
      former_keys: {},
    }),
  );
  if (context.options.json) await context.stdout.write(successLine({ profile }));
  else
    await context.say(
      `Removed the key of profile ${profile}. To log in again: parley login --profile ${profile}\nTo use the store on this machine: parley profiles use ${localProfile}`,
    );
}
