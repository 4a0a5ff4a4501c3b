// `parley profiles …`: manages the stored servers and stores.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerProfilesList } from './list.ts';
import { registerProfilesRemove } from './remove.ts';
import { registerProfilesUse } from './use.ts';

const commands = {
  list: registerProfilesList,
  use: registerProfilesUse,
  remove: registerProfilesRemove,
};

export function registerProfiles(parent: Command, run: Run, second?: string | null): void {
  const profiles = parent.command('profiles').description('manage stored servers and stores');
  registerCommands(profiles, run, commands, second);
}
