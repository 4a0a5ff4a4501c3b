// `parley sessions delete`: hides sessions, one or a million. If one of the ids is malformed, nothing is deleted. A batch can be resumed and
// undone.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

export function registerDelete(parent: Command, run: Run): void {
  registerBatch(parent, run, {
    kind: 'delete',
    description: 'delete sessions (sessions restore brings them back)',
  });
}
