// `parley logout`: removes a profile's key, and keeps the URL of its server.
import type { Command } from 'commander';
import { localProfile, putProfile, requireProfile } from '../../config/profiles.ts';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { Run } from '../run.ts';
import { toJson } from '../terminal/json.ts';

export function registerLogout(parent: Command, run: Run): void {
  parent
    .command('logout')
    .description('forget the key of the profile in use, or of --profile')
    .action((_options, command: Command) => run(command, runLogout));
}

export async function runLogout(context: CliContext): Promise<undefined> {
  const { profile } = context.resolve('report');
  if (profile === null || profile === localProfile) {
    throw new ParleyError('USAGE', 'There is no profile of a server to log out of.', {
      hint: 'Name one with --profile; the store on this machine is its owner’s without a login.',
    });
  }
  await context.host.profileFile.update((config) =>
    putProfile(config, profile, { ...requireProfile(config, profile, null), key: null }),
  );
  if (context.options.json) await context.stdout.write(`${toJson({ success: true, data: { profile } })}\n`);
  else
    await context.say(
      `The key of profile ${profile} is forgotten. Log in again with: parley login --profile ${profile}\nTo use the store on this machine: parley profiles use ${localProfile}`,
    );
}
