// `parley modes …`: manages the modes of the embedded service.
import { commandGroup } from '../../command-group.ts';
import { registerModesAdd } from './add.ts';
import { registerModesDefault } from './default.ts';
import { registerModesList } from './list.ts';
import { registerModesRemove } from './remove.ts';
import { registerModesSet } from './set.ts';
import { registerModesShow } from './show.ts';
import { registerModesTest } from './test.ts';

export const registerModes = commandGroup({
  name: 'modes',
  description: 'manage modes: models and their settings',
  commands: {
    add: registerModesAdd,
    set: registerModesSet,
    list: registerModesList,
    show: registerModesShow,
    test: registerModesTest,
    remove: registerModesRemove,
    default: registerModesDefault,
  },
});
