// `parley sessions archive`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

export function registerArchive(parent: Command, run: Run): void {
  registerBatch(parent, run, {
    kind: 'archive',
    description: 'hide sessions from lists; they can still be searched, read and continued',
  });
}
