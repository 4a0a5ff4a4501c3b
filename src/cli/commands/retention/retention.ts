// `parley retention …`: manages the policies by which old sessions are deleted and erased.
import { commandGroup } from '../../command-group.ts';
import { registerRetentionOff } from './off.ts';
import { registerRetentionRun } from './run.ts';
import { registerRetentionSet } from './set.ts';
import { registerRetentionShow } from './show.ts';

export const registerRetention = commandGroup({
  name: 'retention',
  description: 'delete inactive sessions by a policy; without one, nothing expires',
  commands: {
    set: registerRetentionSet,
    show: registerRetentionShow,
    run: registerRetentionRun,
    off: registerRetentionOff,
  },
});
