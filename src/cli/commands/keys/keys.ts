// `parley keys …`: manages the keys of the store on this machine.
import { commandGroup } from '../../command-group.ts';
import { registerKeysCreate } from './create.ts';
import { registerKeysList } from './list.ts';
import { registerKeysRevoke } from './revoke.ts';

export const registerKeys = commandGroup({
  name: 'keys',
  description: 'manage the keys of the store on this machine',
  commands: {
    create: registerKeysCreate,
    list: registerKeysList,
    revoke: registerKeysRevoke,
  },
});
