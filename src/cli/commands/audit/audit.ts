// `parley audit …`: reads the audit log of the store on this machine.
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
  const audit = parent.command('audit').description('read and verify the audit log');
  registerCommands(audit, run, commands, second);
}
