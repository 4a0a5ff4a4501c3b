// The options that choose entries of the audit log.
import { type Command, Option } from 'commander';
import { type AuditedAction, type AuditQuery, auditedActions } from '../../../service/audit-entry.ts';
import { ParleyError } from '../../../service/errors.ts';
import { quoted } from '../../../service/quoted.ts';
import { type PointInTime, pointInTime, timeOf } from '../../age.ts';
import type { CliContext } from '../../context.ts';

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
    .option('--since <when>', 'from then on, such as 7d or 2026-01-31', pointInTime)
    .option('--until <when>', 'before then', pointInTime)
    .option('--project <name>', 'of one project, by its name or id')
    .addOption(new Option('--what <action>', 'one kind of entry').choices(auditedActions))
    .option('--session <id>', 'of one session, also of one that is erased');
}

export async function queryOf(
  { since, until, project, what, session }: AuditFilter,
  context: CliContext,
): Promise<AuditQuery> {
  const now = context.host.now();
  return {
    since: since === undefined ? null : timeOf(since, now),
    until: until === undefined ? null : timeOf(until, now),
    project_id: project === undefined ? null : await projectId(project, context),
    what: what ?? null,
    session_id: session ?? null,
  };
}

/** A project is known by its keys. */
async function projectId(project: string, context: CliContext): Promise<string> {
  const keys = await (await context.administration()).listKeys();
  const found = keys.find(({ project_id, project_name }) => [project_id, project_name].includes(project));
  if (found !== undefined) return found.project_id;
  throw new ParleyError('USAGE', `There is no project ${quoted(project)} in this store.`, {
    remedy: { kind: 'list_keys' },
  });
}
