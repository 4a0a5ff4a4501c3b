// `parley sessions pin`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerOrdering } from './ordering-command.ts';

export function registerPin(parent: Command, run: Run): void {
  registerOrdering(parent, run, { kind: 'pin', description: 'pin sessions' });
}
