// `parley retention set`: sets the policy of a project. It changes no sessions; the first run needs a confirmed count.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { namedOrOwnProject } from '../../project-choice.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { timeSpan } from '../../time-span.ts';
import { wholeNumber } from '../../whole-number.ts';
import { planText, policyText, reasonText } from './policy-text.ts';

interface RetentionSetFlags {
  readonly after: number;
  readonly keepLast?: number;
  readonly eraseAfter?: number;
  /** Without it, the project is that of the key. */
  readonly project?: string;
}

export function registerRetentionSet(parent: Command, run: Run): void {
  parent
    .command('set')
    .description('set how long sessions may be inactive before they are deleted')
    .requiredOption('--after <time>', 'the time without activity: 12h, 90d, 52w', timeSpan)
    .option('--keep-last <n>', 'keep the newest n sessions, whatever their age', wholeNumber(1, 1_000_000))
    .option('--erase-after <time>', 'the time from deletion to permanent erasure (default: never)', timeSpan)
    .option('--project <name>', 'a project other than that of the key, by name or id')
    .action(run(runRetentionSet));
}

export async function runRetentionSet(
  { after, keepLast, eraseAfter, project }: RetentionSetFlags,
  context: CliContext,
): Promise<void> {
  const policy = { after_ms: after, keep_last: keepLast ?? null, erase_after_ms: eraseAfter ?? null };
  const retention = await (await context.administration()).retention();
  const { project_id, project_name } = await namedOrOwnProject(project, context);
  await retention.setPolicy(project_id, policy);
  const plan = await retention.plan(project_id);
  if (context.options.json) return context.stdout.write(successLine(plan));
  await context.say(`Project ${project_name}: ${policyText(policy)}.`);
  if (plan === null) return;
  const reason =
    plan.confirmation === null
      ? ''
      : ` ${reasonText[plan.confirmation]}, so the next run that removes a session needs a confirmed count.`;
  await context.say(`Now ${planText(plan)}${reason} To preview it: parley retention run --dry-run`);
}
