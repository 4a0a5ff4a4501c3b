// `parley sessions unarchive`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerOrdering } from './ordering-command.ts';

export function registerUnarchive(parent: Command, run: Run): void {
  registerOrdering(parent, run, { kind: 'unarchive', description: 'show archived sessions in lists again' });
}
