// `parley sessions unpin`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

export function registerUnpin(parent: Command, run: Run): void {
  registerBatch(parent, run, { kind: 'unpin', description: 'unpin sessions' });
}
