// `parley retention show`: shows the policies of the store, what a run would do now, and when the next session expires.
import type { Command } from 'commander';
import type { RetentionPlan } from '../../../service/project-retention.ts';
import type { CliContext } from '../../context.ts';
import { namedProject } from '../../project-choice.ts';
import type { Run } from '../../run.ts';
import { timesIn } from '../../shown-time.ts';
import { filledFieldLines } from '../../terminal/fields.ts';
import { successLine } from '../../terminal/json.ts';
import { utcOption } from '../../utc-option.ts';
import { noPolicy, policyText, reasonText } from './policy-text.ts';

interface RetentionShowFlags {
  /** Without it, all projects. */
  readonly project?: string;
  readonly utc?: boolean;
}

export function registerRetentionShow(parent: Command, run: Run): void {
  parent
    .command('show')
    .description('show the policies, what a run would do now, and when the next session expires')
    .option('--project <name>', 'only this project, by name or id')
    .addOption(utcOption())
    .action(run(runRetentionShow));
}

export async function runRetentionShow(
  { project, utc = false }: RetentionShowFlags,
  context: CliContext,
): Promise<void> {
  const retention = await (await context.administration()).retention();
  const only = project === undefined ? null : await namedProject(project, context);
  const plans: RetentionPlan[] = [];
  for (const { project_id } of await retention.policies()) {
    const plan = only === null || only.project_id === project_id ? await retention.plan(project_id) : null;
    if (plan !== null) plans.push(plan);
  }
  if (context.options.json) return context.stdout.write(successLine(plans));
  const time = timesIn(context.stdout, context.host.now(), { utc });
  const shown = plans.map((plan) => filledFieldLines(fieldsOf(plan, time)));
  await context.stdout.write(shown.join('\n'));
  if (plans.length === 0) await context.say(noPolicy);
}

function fieldsOf(plan: RetentionPlan, time: (time: string) => string) {
  const { project_name, project_id, set_at, last_run_at, expire, erase, sessions, confirmation, next_at } =
    plan;
  const needs =
    confirmation === null || sessions === 0
      ? ''
      : `${reasonText[confirmation]}, so it needs --confirm ${sessions}`;
  return {
    project: `${project_name} (${project_id})`,
    policy: policyText(plan),
    set: time(set_at),
    'last run': last_run_at === null ? 'never' : time(last_run_at),
    'would expire now': expire,
    'would be erased now': erase,
    'the next session expires': next_at === null ? 'none' : time(next_at),
    'the next run': needs,
  };
}
