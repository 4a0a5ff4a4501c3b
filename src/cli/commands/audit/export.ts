// `parley audit export`: writes the entries of the audit log as JSON lines, to archive them elsewhere.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { type AuditFilter, auditFilter, queryOf } from './audit-filter.ts';

export function registerAuditExport(parent: Command, run: Run): void {
  auditFilter(parent.command('export'))
    .description('write all entries as JSON lines')
    .action(run(runAuditExport));
}

export async function runAuditExport(filter: AuditFilter, context: CliContext): Promise<void> {
  const administration = await context.administration();
  for await (const entry of administration.auditEntries(await queryOf(filter, context)))
    await context.stdout.write(`${toJson(entry)}\n`);
}
