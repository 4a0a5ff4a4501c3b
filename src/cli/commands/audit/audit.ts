// `parley audit …`: who did what in the store of this machine.
import type { Command } from 'commander';
import { registerCommands } from '../../command-group.ts';
import type { Run } from '../../run.ts';
import { registerAuditExport } from './export.ts';
import { registerAuditList } from './list.ts';
import { registerAuditVerify } from './verify.ts';

const commands = {
  list: registerAuditList,
  verify: registerAuditVerify,
  export: registerAuditExport,
};

export function registerAudit(parent: Command, run: Run, second?: string | null): void {
  const audit = parent.command('audit').description('see who deleted, restored, imported and erased what');
  registerCommands(audit, run, commands, second);
}
