// `parley sessions archive`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerOrdering } from './ordering-command.ts';

export function registerArchive(parent: Command, run: Run): void {
  registerOrdering(parent, run, {
    kind: 'archive',
    description: 'hide sessions from lists; they can still be searched, read and continued',
  });
}
