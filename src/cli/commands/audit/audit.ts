// `parley audit …`: reads the audit log of the store on this machine.
import { commandGroup } from '../../command-group.ts';
import { registerAuditExport } from './export.ts';
import { registerAuditList } from './list.ts';
import { registerAuditVerify } from './verify.ts';

export const registerAudit = commandGroup({
  name: 'audit',
  description: 'read and verify the audit log',
  commands: {
    list: registerAuditList,
    verify: registerAuditVerify,
    export: registerAuditExport,
  },
});
