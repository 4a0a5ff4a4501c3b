// The options that select entries of the audit log.
import { type Command, Option } from 'commander';
import { type AuditedAction, type AuditQuery, auditedActions } from '../../../service/audit-entry.ts';
import { type PointInTime, pointInTime, timeOf } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import { namedProject } from '../../project-choice.ts';

export interface AuditFilter {
  readonly since?: PointInTime;
  readonly until?: PointInTime;
  /** A name or an id. */
  readonly project?: string;
  readonly what?: AuditedAction;
  readonly session?: string;
}

export function auditFilter(command: Command): Command {
  return command
    .option('--since <when>', 'only entries since then, as in 7d or 2026-01-31', pointInTime)
    .option('--until <when>', 'only entries before then', pointInTime)
    .option('--project <name>', 'only this project, by name or id')
    .addOption(new Option('--what <action>', 'only entries of this kind').choices(auditedActions))
    .option('--session <id>', 'only entries of this session, even if it is erased');
}

export async function queryOf(
  { since, until, project, what, session }: AuditFilter,
  context: CliContext,
): Promise<AuditQuery> {
  const now = context.host.now();
  return {
    since: since === undefined ? null : timeOf(since, now),
    until: until === undefined ? null : timeOf(until, now),
    project_id: project === undefined ? null : (await namedProject(project, context)).project_id,
    what: what ?? null,
    session_id: session ?? null,
  };
}
