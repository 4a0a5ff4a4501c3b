// `parley store …`: the store as a whole.
import { commandGroup } from '../../command-group.ts';
import { registerStoreBackup } from './backup.ts';
import { registerStoreCopy } from './copy.ts';
import { registerStoreMigrate } from './migrate.ts';
import { registerStoreRestore } from './restore.ts';
import { registerStoreVerify } from './verify.ts';

export const registerStore = commandGroup({
  name: 'store',
  description: 'back up, restore, copy and migrate stores',
  commands: {
    backup: registerStoreBackup,
    verify: registerStoreVerify,
    restore: registerStoreRestore,
    copy: registerStoreCopy,
    migrate: registerStoreMigrate,
  },
});
