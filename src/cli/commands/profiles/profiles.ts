// `parley profiles …`: manages the stored servers and stores.
import { commandGroup } from '../../command-group.ts';
import { registerProfilesList } from './list.ts';
import { registerProfilesRemove } from './remove.ts';
import { registerProfilesUse } from './use.ts';

export const registerProfiles = commandGroup({
  name: 'profiles',
  description: 'manage stored servers and stores',
  commands: {
    list: registerProfilesList,
    use: registerProfilesUse,
    remove: registerProfilesRemove,
  },
});
