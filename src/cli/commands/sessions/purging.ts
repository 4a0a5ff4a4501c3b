// Runs `parley sessions purge`: counts the sessions, has the count confirmed, erases them, and lists where copies may remain.

import type { PurgePlan, PurgeReport } from '../../../service/erasure.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type PointInTime, timeOf } from '../../age.ts';
import type { CliContext, Printing } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone } from '../../exit-codes.ts';
import { timesIn } from '../../shown-time.ts';
import { oneLine } from '../../terminal/filter.ts';
import { successLine } from '../../terminal/json.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { askText } from '../../terminal/prompt.ts';
import { erasureRemarks } from './erasure-remarks.ts';
import { PurgeProgress } from './purge-progress.ts';
import { removePurgedJournals } from './purged-journals.ts';

export interface PurgeInput {
  readonly deletedBefore: PointInTime;
  readonly allProjects?: true;
  /** Rewrites the tables of a store that would otherwise keep erased bytes in its files. */
  readonly rewrite?: boolean;
  readonly dryRun?: true;
  /** The confirmed number of sessions. Without it, the user is asked. */
  readonly confirm?: number;
}

/** Other places that may contain the same texts. */
const notReached = [
  'exports and other files made from these sessions',
  'the input history of the REPL and of the shell',
  'backups and snapshots other than those that Parley keeps beside the store',
  'data sent to the provider of a model',
];

export async function purgeSessions(input: PurgeInput, context: CliContext): Promise<number> {
  const { rewrite = false } = input;
  const { backend } = await context.open();
  const administration = await context.administration();
  const deleted_before = timeOf(input.deletedBefore, context.host.now());
  const project = input.allProjects ? null : (await backend.service.verify(await context.call())).data;
  const request = { project_id: project?.project_id ?? null, deleted_before };
  const plan = await administration.planPurge(request);
  const scope = project === null ? 'all projects' : `project ${project.project_name}`;
  const before = timesIn(context.stderr, context.host.now())(deleted_before);
  const isEmpty = plan.sessions === 0 && !plan.unfinished;
  if (isEmpty && !context.options.json) {
    await context.say(`Nothing to erase: no session of ${scope} was deleted before ${before}.`);
    return exitDone;
  }
  if (input.dryRun && !context.options.json) {
    await writeNotice(describePlan(plan, scope, before, rewrite), context.stdout);
    await listNotReached(context);
    return exitDone;
  }
  if (input.dryRun || isEmpty) {
    const counts = input.dryRun ? plan : { sessions: 0, messages: 0 };
    await context.stdout.write(successLine({ ...request, ...counts, not_reached: notReached }));
    return exitDone;
  }
  await context.say(describePlan(plan, scope, before, rewrite));
  if (plan.sessions > 0) await requireCount(plan.sessions, input.confirm, context);
  const erasing = { ...request, expected_sessions: plan.sessions, rewrite };
  const progress = new PurgeProgress(plan.sessions, context);
  const { facts, integrity, ...report } = await progress.over(
    administration.purgeSessions({ ...erasing, onErased: (sessions) => progress.add(sessions) }),
  );
  if ((await administration.planPurge(request)).unfinished)
    await context.say(
      'An import is running or was interrupted, and may leave bytes in the files: run the command again when no import is running.',
    );
  const ownFacts = Object.fromEntries(facts.map(({ name, value }) => [name, value]));
  const selection = { project_id: request.project_id, before: Date.parse(deleted_before) };
  const journals = await removePurgedJournals(selection, administration, context);
  const journals_removed = journals.removed;
  if (!context.options.json) {
    await writeNotice(
      purgeSummary({ facts, integrity, ...report }, journals_removed, progress),
      context.stdout,
    );
    await listNotReached(context);
    return journals.report();
  }
  const all = { ...request, ...report, ...ownFacts, integrity, journals_removed, not_reached: notReached };
  await context.stdout.write(successLine(all));
  return journals.report();
}

/** The summary of a purge. */
export function purgeSummary(
  report: PurgeReport,
  journals: readonly string[],
  progress: Pick<PurgeProgress, 'ending'>,
): string {
  const { sessions, messages, stored_answers, backups_removed, bytes_before, bytes, facts, integrity } =
    report;
  const lists = [
    { label: 'Removed backups', names: backups_removed },
    { label: 'Removed journals of batches', names: journals },
  ];
  return [
    progress.ending(
      `Erased ${counted(sessions, 'session')} with ${counted(messages, 'message')}, and ${counted(stored_answers, 'stored answer')}`,
    ),
    `The store now has ${counted(bytes, 'byte')}${bytes < bytes_before ? `, down from ${bytes_before}` : ''}. Integrity check: ${integrity}.`,
    ...lists
      .filter(({ names }) => names.length > 0)
      .map(({ label, names }) => `${label}: ${oneLine(names.join(', '))}`),
    ...erasureRemarks(facts),
  ].join('\n');
}

function describePlan(
  { sessions, messages, text_bytes, backups, unfinished }: PurgePlan,
  scope: string,
  before: string,
  rewrite: boolean,
) {
  const selection = `${counted(sessions, 'session')} of ${scope}, deleted before ${before}: ${counted(messages, 'message')}, ${counted(text_bytes, 'byte')} of text.`;
  const copies =
    backups.length === 0
      ? ''
      : `\nThis also removes the ${backups.length === 1 ? 'backup' : 'backups'} ${backups.join(', ')}.`;
  const earlier = unfinished
    ? '\nBytes of earlier erasures may still be in the files; they are overwritten, too.'
    : '';
  return `${selection}${copies}${earlier}\nThis cannot be undone. It takes a while, and needs space for a second copy of the store.${rewrite ? ' Other users of the store wait until it ends.' : ''}`;
}

export async function requireCount(
  count: number,
  confirm: number | undefined,
  context: CliContext,
): Promise<void> {
  const confirmed =
    confirm ??
    (await askText(
      `Type ${count} to permanently erase ${counted(count, 'session')}`,
      `--confirm ${count}`,
      context.prompting,
    ));
  if (String(confirmed).trim() === String(count)) return;
  throw new ParleyError(
    'USAGE',
    `Nothing was erased: there ${count === 1 ? 'is' : 'are'} ${counted(count, 'session')} to erase, not ${confirmed}.`,
    { hint: `To erase ${count === 1 ? 'it' : 'them'}: --confirm ${count}` },
  );
}

export async function listNotReached(
  context: Printing,
  places: readonly string[] = notReached,
): Promise<void> {
  await context.say(
    `Not erased, because Parley cannot reach them:\n${places.map((line) => `  ${line}\n`).join('')}`.trimEnd(),
  );
}
