// `parley store …`: the store as a whole.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerStoreCopy } from './copy.ts';
import { registerStoreMigrate } from './migrate.ts';

export function registerStore(parent: Command, run: Run): void {
  const store = parent.command('store').description('migrate and copy stores');
  registerStoreCopy(store, run);
  registerStoreMigrate(store, run);
}
