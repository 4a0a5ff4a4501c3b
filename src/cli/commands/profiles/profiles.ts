// `parley profiles …`: the servers and stores that Parley can use.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerProfilesList } from './list.ts';
import { registerProfilesRemove } from './remove.ts';
import { registerProfilesUse } from './use.ts';

export function registerProfiles(parent: Command, run: Run): void {
  const profiles = parent.command('profiles').description('manage the servers that are kept');
  registerProfilesList(profiles, run);
  registerProfilesUse(profiles, run);
  registerProfilesRemove(profiles, run);
}
