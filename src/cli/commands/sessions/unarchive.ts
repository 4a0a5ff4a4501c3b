// `parley sessions unarchive`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

export function registerUnarchive(parent: Command, run: Run): void {
  registerBatch(parent, run, { kind: 'unarchive', description: 'show archived sessions in lists again' });
}
