// `parley keys …`: the projects and keys of the embedded service.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerKeysCreate } from './create.ts';
import { registerKeysList } from './list.ts';
import { registerKeysRevoke } from './revoke.ts';

export function registerKeys(parent: Command, run: Run): void {
  const keys = parent.command('keys').description('manage the keys of the store on this machine');
  registerKeysCreate(keys, run);
  registerKeysList(keys, run);
  registerKeysRevoke(keys, run);
}
