// `parley modes …`: manages the modes of the embedded service.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerModesAdd } from './add.ts';
import { registerModesDefault } from './default.ts';
import { registerModesList } from './list.ts';
import { registerModesRemove } from './remove.ts';
import { registerModesSet } from './set.ts';
import { registerModesShow } from './show.ts';
import { registerModesTest } from './test.ts';

const commands = {
  add: registerModesAdd,
  set: registerModesSet,
  list: registerModesList,
  show: registerModesShow,
  test: registerModesTest,
  remove: registerModesRemove,
  default: registerModesDefault,
};

export function registerModes(parent: Command, run: Run, second?: string | null): void {
  const modes = parent.command('modes').description('manage modes: models and their settings');
  registerCommands(modes, run, commands, second);
}
