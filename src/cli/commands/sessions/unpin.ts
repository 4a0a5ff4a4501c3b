// `parley sessions unpin`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerOrdering } from './ordering-command.ts';

export function registerUnpin(parent: Command, run: Run): void {
  registerOrdering(parent, run, { kind: 'unpin', description: 'unpin sessions' });
}
