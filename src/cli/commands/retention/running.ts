// Runs `parley retention run`: counts the sessions, asks for confirmation, runs the policy, and prints how to undo it.
import { ParleyError } from '../../../service/errors.ts';
import type { Retention, RetentionPlan, RetentionReport } from '../../../service/project-retention.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { type ChosenProject, namedOrOwnProject } from '../../project-choice.ts';
import { summarySentence } from '../../summary-sentence.ts';
import { successLine } from '../../terminal/json.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { askText, confirm } from '../../terminal/prompt.ts';
import { commandAtTarget } from '../sessions/batch.ts';
import { planText, reasonText } from './policy-text.ts';

export interface RetentionRunFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  /** The confirmed number of sessions. */
  readonly confirm?: number;
  /** Without it, the project is that of the key. */
  readonly project?: string;
}

export async function runRetention(flags: RetentionRunFlags, context: CliContext): Promise<void> {
  const retention = await (await context.administration()).retention();
  const project = await namedOrOwnProject(flags.project, context);
  const plan = await retention.plan(project.project_id);
  if (plan === null) throw noPolicyOf(project);
  if (flags.dryRun) return writePlan(plan, context);
  if (plan.sessions === 0 && plan.confirmation !== null && flags.confirm === undefined)
    return reportNothingDone(plan, context);
  const confirmed = await confirmedCount(plan, flags, context);
  const startedAt = monotonicMs();
  const report = await runWithProgress(retention, plan, confirmed, context);
  return writeReport(report, monotonicMs() - startedAt, context);
}

function noPolicyOf({ project_name }: ChosenProject): ParleyError {
  return new ParleyError('USAGE', `Project ${project_name} has no policy, so none of its sessions expire.`, {
    hint: 'Set one, as in: parley retention set --after 90d',
  });
}

async function writePlan(plan: RetentionPlan, context: CliContext): Promise<void> {
  if (context.options.json) return context.stdout.write(successLine(plan));
  await writeNotice(planText(plan), context.stdout);
  if (plan.confirmation !== null && plan.sessions > 0) await context.say(confirmHint(plan, context));
}

/** A run without sessions needs no count, and does not confirm the policy: the first run that deletes a session still asks. */
async function reportNothingDone(
  { project_id, project_name }: RetentionPlan,
  context: CliContext,
): Promise<void> {
  const nothing = { batch: null, expired: 0, erased: 0, continued: false, finished: true };
  await writeReport({ project_id, project_name, ...nothing }, 0, context);
  await context.say('The first run that deletes a session will ask for a confirmed count.');
}

function confirmHint({ confirmation, sessions }: RetentionPlan, { options }: CliContext): string {
  const reason = confirmation === null ? '' : `${reasonText[confirmation]}. `;
  return `${reason}To run it: ${commandAtTarget(`retention run --confirm ${sessions}`, options)}`;
}

/** The count to confirm; null if none is needed or given. */
async function confirmedCount(
  plan: RetentionPlan,
  { yes, confirm: count }: RetentionRunFlags,
  context: CliContext,
): Promise<number | null> {
  const { sessions, confirmation } = plan;
  if (count === undefined && confirmation === null) {
    if (yes || sessions === 0) return null;
    await context.say(planText(plan));
    if (await confirm('Run it?', '--yes', context.prompting)) return null;
    throw new ParleyError('USAGE', 'Nothing was done.', { hint: 'You answered no.' });
  }
  if (count === undefined) await context.say(`${planText(plan)} ${reasonText[confirmation ?? 'first_run']}.`);
  const typed =
    count ?? (await askText(`Type ${sessions} to run it`, `--confirm ${sessions}`, context.prompting));
  if (String(typed).trim() !== String(sessions)) throw wrongCount(plan, String(typed));
  return sessions;
}

function wrongCount(plan: RetentionPlan, count: string): ParleyError {
  const { sessions, expire, erase } = plan;
  const counts = erase === 0 ? '' : ` (${expire} to expire and ${erase} to erase)`;
  return new ParleyError(
    'USAGE',
    `Nothing was done: the run affects ${counted(sessions, 'session')}${counts}, not ${count}.`,
    { hint: `To run it anyway: --confirm ${sessions}` },
  );
}

async function runWithProgress(
  retention: Retention,
  plan: RetentionPlan,
  confirmed: number | null,
  context: CliContext,
): Promise<RetentionReport> {
  const progress = itemProgress(context, 'expired', plan.sessions);
  const end = await retention
    .run({
      project_id: plan.project_id,
      confirmed,
      every_ms: null,
      signal: context.stopSignal,
      onStep: (action, sessions) => progress.finishMany(action, sessions),
    })
    .finally(() => progress.stop());
  switch (end.kind) {
    case 'ran':
      return end.report;
    case 'no_policy':
      throw noPolicyOf(plan);
    case 'other_count':
      throw wrongCount(end.plan, String(confirmed));
    case 'unconfirmed':
      throw new ParleyError('USAGE', `Nothing was done: ${planText(end.plan)}`, {
        hint: confirmHint(end.plan, context),
      });
    default:
      throw new ParleyError(
        'STORE_BUSY',
        `Another retention run of project ${plan.project_name} is in progress.`,
        { hint: 'Nothing was done. Try again when it has finished.' },
      );
  }
}

async function writeReport(report: RetentionReport, tookMs: number, context: CliContext): Promise<void> {
  const { options, stdout, stderr, stopSignal } = context;
  const { project_name, expired, erased, batch, finished } = report;
  if (options.json) await stdout.write(successLine(report));
  else
    await stdout.write(
      `${summarySentence(`Expired ${counted(expired, 'session')} of project ${project_name}, and erased ${erased}`, tookMs)}\n`,
    );
  if (batch !== null)
    await context.say(`To undo the expiry: ${commandAtTarget(`sessions restore --batch ${batch}`, options)}`);
  if (finished) return;
  // The line is part of the failure, so `--quiet` keeps it.
  if (stopSignal.aborted) {
    await stderr.write('Stopped. The next run continues from here.\n');
    throw stopSignal.reason;
  }
  throw new ParleyError(
    'STORE_BUSY',
    'The run was stopped, because its policy was changed or another run took over.',
    {
      hint: 'To see the policy: parley retention show',
    },
  );
}
