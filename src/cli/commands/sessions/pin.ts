// `parley sessions pin`.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

export function registerPin(parent: Command, run: Run): void {
  registerBatch(parent, run, { kind: 'pin', description: 'pin sessions' });
}
