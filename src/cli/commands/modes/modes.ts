// `parley modes …`: the models that the embedded service can answer with.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerModesAdd } from './add.ts';
import { registerModesDefault } from './default.ts';
import { registerModesList } from './list.ts';
import { registerModesRemove } from './remove.ts';
import { registerModesSet } from './set.ts';
import { registerModesShow } from './show.ts';
import { registerModesTest } from './test.ts';

export function registerModes(parent: Command, run: Run): void {
  const modes = parent.command('modes').description('manage modes: models and their settings');
  registerModesAdd(modes, run);
  registerModesSet(modes, run);
  registerModesList(modes, run);
  registerModesShow(modes, run);
  registerModesTest(modes, run);
  registerModesRemove(modes, run);
  registerModesDefault(modes, run);
}
