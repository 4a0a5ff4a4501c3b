// `parley audit …`: who did what in the store of this machine.
import type { Command } from 'commander';
import type { Run } from '../../run.ts';
import { registerAuditExport } from './export.ts';
import { registerAuditList } from './list.ts';
import { registerAuditVerify } from './verify.ts';

export function registerAudit(parent: Command, run: Run): void {
  const audit = parent.command('audit').description('see who deleted, restored, imported and erased what');
  registerAuditList(audit, run);
  registerAuditVerify(audit, run);
  registerAuditExport(audit, run);
}
