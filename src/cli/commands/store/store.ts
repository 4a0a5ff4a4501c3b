// `parley store …`: the store as a whole.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerStoreBackup } from './backup.ts';
import { registerStoreCopy } from './copy.ts';
import { registerStoreMigrate } from './migrate.ts';
import { registerStoreRestore } from './restore.ts';
import { registerStoreVerify } from './verify.ts';

const commands = {
  backup: registerStoreBackup,
  verify: registerStoreVerify,
  restore: registerStoreRestore,
  copy: registerStoreCopy,
  migrate: registerStoreMigrate,
};

export function registerStore(parent: Command, run: Run, second?: string | null): void {
  const store = parent.command('store').description('back up, restore, copy and migrate stores');
  registerCommands(store, run, commands, second);
}
