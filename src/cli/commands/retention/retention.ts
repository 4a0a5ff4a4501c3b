// `parley retention …`: manages the policies by which old sessions are deleted and erased.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerRetentionOff } from './off.ts';
import { registerRetentionRun } from './run.ts';
import { registerRetentionSet } from './set.ts';
import { registerRetentionShow } from './show.ts';

export function registerRetention(parent: Command, run: Run): void {
  const retention = parent
    .command('retention')
    .description('delete inactive sessions by a policy; without one, nothing expires');
  registerRetentionSet(retention, run);
  registerRetentionShow(retention, run);
  registerRetentionRun(retention, run);
  registerRetentionOff(retention, run);
}
