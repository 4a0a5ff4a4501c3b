// `parley retention …`: manages the policies by which old sessions are deleted and erased.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerRetentionOff } from './off.ts';
import { registerRetentionRun } from './run.ts';
import { registerRetentionSet } from './set.ts';
import { registerRetentionShow } from './show.ts';

const commands = {
  set: registerRetentionSet,
  show: registerRetentionShow,
  run: registerRetentionRun,
  off: registerRetentionOff,
};

export function registerRetention(parent: Command, run: Run, second?: string | null): void {
  const retention = parent
    .command('retention')
    .description('delete inactive sessions by a policy; without one, nothing expires');
  registerCommands(retention, run, commands, second);
}
