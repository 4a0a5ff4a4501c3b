// `parley keys …`: manages the keys of the store on this machine.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerKeysCreate } from './create.ts';
import { registerKeysList } from './list.ts';
import { registerKeysRevoke } from './revoke.ts';

const commands = {
  create: registerKeysCreate,
  list: registerKeysList,
  revoke: registerKeysRevoke,
};

export function registerKeys(parent: Command, run: Run, second?: string | null): void {
  const keys = parent.command('keys').description('manage the keys of the store on this machine');
  registerCommands(keys, run, commands, second);
}
