// What `parley retention run` does: it counts, asks or has the count confirmed, runs the policy, and says how to take it back.
import { ParleyError } from '../../../service/errors.ts';
import type { Retention, RetentionPlan, RetentionReport } from '../../../service/project-retention.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { type BatchProgress, progressOn } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { type ChosenProject, namedOrOwnProject } from '../../project-choice.ts';
import { summarySentence } from '../../summary-sentence.ts';
import { toJson } from '../../terminal/json.ts';
import { askText, confirm as askWhether } from '../../terminal/prompt.ts';
import { commandAtTarget } from '../sessions/batch.ts';
import { planText, reasonText } from './policy-words.ts';

export interface RetentionRunInput {
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** The confirmed count of sessions; null where none is given. */
  readonly confirm: number | null;
  /** Null for the project of the key. */
  readonly project: string | null;
}

export async function runRetention(input: RetentionRunInput, context: CliContext): Promise<undefined> {
  const retention = await (await context.administration()).retention();
  const project = await namedOrOwnProject(input.project, context);
  const plan = await retention.plan(project.project_id);
  if (plan === null) throw noPolicyOf(project);
  if (input.dryRun) return tellPlan(plan, context);
  if (plan.sessions === 0 && plan.confirmation !== null && input.confirm === null)
    return tellNothing(plan, context);
  const confirmed = await confirmedCount(plan, input, context);
  const began = monotonicMs();
  const report = await runWithProgress(retention, plan, confirmed, context);
  return tellReport(report, monotonicMs() - began, context);
}

function noPolicyOf({ project_name }: ChosenProject): ParleyError {
  return new ParleyError('USAGE', `The project ${project_name} has no policy: nothing of it ever expires.`, {
    hint: 'Set one, for example: parley retention set --after 90d',
  });
}

async function tellPlan(plan: RetentionPlan, context: CliContext): Promise<undefined> {
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: plan })}\n`);
    return;
  }
  await context.stdout.write(`${planText(plan)}\n`);
  if (plan.confirmation !== null && plan.sessions > 0) await context.say(howToConfirm(plan, context));
}

/** A run that would do nothing needs no count. It confirms nothing either: the first run that removes a session still asks. */
async function tellNothing(
  { project_id, project_name }: RetentionPlan,
  context: CliContext,
): Promise<undefined> {
  const nothing = { batch: null, expired: 0, erased: 0, continued: false, finished: true };
  await tellReport({ project_id, project_name, ...nothing }, 0, context);
  await context.say('The first run that removes a session asks for its count.');
}

function howToConfirm({ confirmation, sessions }: RetentionPlan, { options }: CliContext): string {
  const reason = confirmation === null ? '' : `${reasonText[confirmation]}. `;
  return `${reason}To run it: ${commandAtTarget(`retention run --confirm ${sessions}`, options)}`;
}

/** The count to confirm; null if none is needed or given. */
async function confirmedCount(
  plan: RetentionPlan,
  { yes, confirm: given }: RetentionRunInput,
  context: CliContext,
): Promise<number | null> {
  const { sessions, confirmation } = plan;
  if (given === null && confirmation === null) {
    if (yes || sessions === 0) return null;
    await context.say(planText(plan));
    if (await askWhether('Run it?', '--yes', context.prompting)) return null;
    throw new ParleyError('USAGE', 'Nothing was done.');
  }
  if (given === null) await context.say(`${planText(plan)} ${reasonText[confirmation ?? 'first_run']}.`);
  const typed =
    given ?? (await askText(`Type ${sessions} to run it`, `--confirm ${sessions}`, context.prompting));
  if (String(typed).trim() !== String(sessions)) throw otherCount(plan, String(typed));
  return sessions;
}

function otherCount(plan: RetentionPlan, given: string): ParleyError {
  const { sessions, expire, erase } = plan;
  const counts = erase === 0 ? '' : ` (${expire} to expire and ${erase} to erase)`;
  return new ParleyError(
    'USAGE',
    `Nothing was done: the run is about ${counted(sessions, 'session')}${counts}, not ${given}.`,
    { hint: `If ${sessions === 1 ? 'this is' : 'these are'} meant: --confirm ${sessions}` },
  );
}

async function runWithProgress(
  retention: Retention,
  plan: RetentionPlan,
  confirmed: number | null,
  context: CliContext,
): Promise<RetentionReport> {
  const progress: BatchProgress = progressOn(context, {
    ...{ end: plan.sessions, unit: 'items', outcomes: ['expired'], resultsApart: true },
  });
  const end = await retention
    .run({
      project_id: plan.project_id,
      ...{ confirmed, every_ms: null, signal: context.stopSignal },
      onStep: (action, sessions) => {
        for (let count = 0; count < sessions; count += 1) progress.finish(action);
      },
    })
    .finally(() => progress.stop());
  switch (end.kind) {
    case 'ran':
      return end.report;
    case 'no_policy':
      throw noPolicyOf(plan);
    case 'other_count':
      throw otherCount(end.plan, String(confirmed));
    case 'unconfirmed':
      throw new ParleyError('USAGE', `Nothing was done: ${planText(end.plan)}`, {
        hint: howToConfirm(end.plan, context),
      });
    default:
      throw new ParleyError(
        'STORE_BUSY',
        `Another run of retention of the project ${plan.project_name} is under way.`,
        { hint: 'Nothing was done. Try again when it has ended.' },
      );
  }
}

async function tellReport(report: RetentionReport, tookMs: number, context: CliContext): Promise<undefined> {
  const { options, stdout, stderr, stopSignal } = context;
  const { project_name, expired, erased, batch, finished } = report;
  if (options.json) await stdout.write(`${toJson({ success: true, data: report })}\n`);
  else
    await stdout.write(
      `${summarySentence(`Expired ${counted(expired, 'session')} of project ${project_name}, and erased ${erased}`, tookMs)}\n`,
    );
  if (batch !== null)
    await context.say(`To undo the expiry: ${commandAtTarget(`sessions restore --batch ${batch}`, options)}`);
  if (finished) return;
  // The line is part of the failure, so `--quiet` keeps it.
  if (stopSignal.aborted) {
    await stderr.write('Stopped. The next run goes on where this one ended.\n');
    throw stopSignal.reason;
  }
  throw new ParleyError(
    'STORE_BUSY',
    'The run was stopped: its policy was changed, or another run took over.',
    {
      hint: 'See the policy: parley retention show',
    },
  );
}
