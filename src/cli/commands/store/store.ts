// `parley store …`: the store as a whole.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerStoreBackup } from './backup.ts';
import { registerStoreCopy } from './copy.ts';
import { registerStoreMigrate } from './migrate.ts';
import { registerStoreRestore } from './restore.ts';
import { registerStoreVerify } from './verify.ts';

export function registerStore(parent: Command, run: Run): void {
  const store = parent.command('store').description('back up, restore, copy and migrate stores');
  registerStoreBackup(store, run);
  registerStoreVerify(store, run);
  registerStoreRestore(store, run);
  registerStoreCopy(store, run);
  registerStoreMigrate(store, run);
}
