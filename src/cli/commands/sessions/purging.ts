// What `parley sessions purge` does: it counts, has the count confirmed, erases, and says what it cannot reach.

import type { PurgePlan, PurgeReport } from '../../../service/erasure.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type PointInTime, timeOf } from '../../age.ts';
import type { CliContext, Printing } from '../../context.ts';
import { counted } from '../../counted.ts';
import { removeJournals } from '../../session-batch/journal-removal.ts';
import { timesIn } from '../../shown-time.ts';
import { oneLine } from '../../terminal/filter.ts';
import { toJson } from '../../terminal/json.ts';
import { askText } from '../../terminal/prompt.ts';
import { erasureRemarks } from './erasure-remarks.ts';
import { PurgeProgress } from './purge-progress.ts';

export interface PurgeInput {
  readonly deletedBefore: PointInTime;
  readonly allProjects: boolean;
  /** Leave no erased byte in the files of a store that does not do so anyway. */
  readonly rewrite: boolean;
  readonly dryRun: boolean;
  /** The confirmed count of sessions; null where the user is asked to type it. */
  readonly confirm: number | null;
}

/** Places that may hold the same texts. */
const notReached = [
  'exports and other files that were made of these sessions',
  'the history of what was typed: of the REPL, and of the shell',
  'backups and snapshots other than those that Parley keeps beside the store',
  'what was sent to the provider of a model',
];

export async function purgeSessions(input: PurgeInput, context: CliContext): Promise<undefined> {
  const { backend } = await context.open();
  const administration = await context.administration();
  const deleted_before = timeOf(input.deletedBefore, context.host.now());
  const project = input.allProjects ? null : (await backend.service.verify(await context.call())).data;
  const request = { project_id: project?.project_id ?? null, deleted_before };
  const plan = await administration.planPurge(request);
  const whose = project === null ? 'all projects' : `project ${project.project_name}`;
  const told = timesIn(context.stderr, context.host.now())(deleted_before);
  const isEmpty = plan.sessions === 0 && !plan.unfinished;
  if (isEmpty && !context.options.json) {
    await context.say(`Nothing to erase: no session of ${whose} was deleted before ${told}.`);
    return;
  }
  if (input.dryRun && !context.options.json) {
    await context.stdout.write(`${described(plan, whose, told, input.rewrite)}\n`);
    return tellNotReached(context);
  }
  if (input.dryRun) return tell({ ...request, ...plan, not_reached: notReached }, context);
  if (isEmpty) return tell({ ...request, sessions: 0, messages: 0, not_reached: notReached }, context);
  await context.say(described(plan, whose, told, input.rewrite));
  if (plan.sessions > 0) await requireCount(plan.sessions, input.confirm, context);
  const erasing = { ...request, expected_sessions: plan.sessions, rewrite: input.rewrite };
  const progress = new PurgeProgress(plan.sessions, context);
  const { facts, integrity, ...report } = await administration
    .purgeSessions({ ...erasing, erased: (sessions) => progress.erased(sessions) })
    .finally(() => progress.stop());
  if ((await administration.planPurge(request)).unfinished)
    await context.say(
      'An import is under way or was cut, and may leave bytes in the files: give the command again when no import runs.',
    );
  const ownFacts = Object.fromEntries(facts.map(({ name, value }) => [name, value]));
  const journals_removed = await removeJournals(context.host.dataDirectory, {
    origin: context.target.origin,
    project_id: request.project_id,
    before: Date.parse(deleted_before),
    holdsAny: (project_id, ids) => administration.holdsAny(project_id, ids),
    locks: context.host.locks,
  });
  if (!context.options.json) {
    await context.stdout.write(ended({ facts, integrity, ...report }, journals_removed, progress));
    return tellNotReached(context);
  }
  const all = { ...request, ...report, ...ownFacts, integrity, journals_removed, not_reached: notReached };
  return tell(all, context);
}

/** The end of a purge in sentences. */
export function ended(report: PurgeReport, journals: readonly string[], progress: PurgeProgress): string {
  const { sessions, messages, stored_answers, backups_removed, bytes_before, bytes, facts, integrity } =
    report;
  const lists = [
    { what: 'Backups that were removed', names: backups_removed },
    { what: 'Batches whose journals were removed', names: journals },
  ];
  return [
    progress.ending(
      `Erased ${counted(sessions, 'session')} with ${counted(messages, 'message')}, and ${counted(stored_answers, 'stored answer')}`,
    ),
    `The store has ${counted(bytes, 'byte')}; it had ${bytes_before}. Its check: ${integrity}.`,
    ...lists
      .filter(({ names }) => names.length > 0)
      .map(({ what, names }) => `${what}: ${oneLine(names.join(', '))}`),
    ...erasureRemarks(facts),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function described(
  { sessions, messages, text_bytes, backups, unfinished }: PurgePlan,
  whose: string,
  before: string,
  rewrite: boolean,
) {
  const what = `${counted(sessions, 'session')} of ${whose}, deleted before ${before}: ${counted(messages, 'message')}, ${counted(text_bytes, 'byte')} of text.`;
  const copies =
    backups.length === 0
      ? ''
      : `\nWith ${sessions === 1 ? 'it' : 'them'} ${backups.length === 1 ? 'goes the backup' : 'go the backups'} ${backups.join(', ')}.`;
  const earlier = unfinished
    ? '\nBytes that were erased before may still be in the files: they are overwritten, too.'
    : '';
  return `${what}${copies}${earlier}\nThis cannot be undone. It takes a while, and room for a second copy of the store.${rewrite ? ' Whoever else uses the store waits meanwhile.' : ''}`;
}

export async function requireCount(count: number, given: number | null, context: CliContext): Promise<void> {
  const confirmed =
    given ??
    (await askText(
      `Type ${count} to erase ${counted(count, 'session')} for good`,
      `--confirm ${count}`,
      context.prompting,
    ));
  if (String(confirmed).trim() === String(count)) return;
  throw new ParleyError(
    'USAGE',
    `Nothing was erased: there ${count === 1 ? 'is' : 'are'} ${counted(count, 'session')} to erase, not ${confirmed}.`,
    { hint: `If ${count === 1 ? 'this is' : 'these are'} meant: --confirm ${count}` },
  );
}

/** What a purge tells under `--json`. */
export async function tell(
  data: Readonly<Record<string, unknown>>,
  { stdout }: Printing,
): Promise<undefined> {
  await stdout.write(`${toJson({ success: true, data })}\n`);
}

export async function tellNotReached(
  context: Printing,
  places: readonly string[] = notReached,
): Promise<undefined> {
  await context.say(
    `Out of reach, and yours to look after:\n${places.map((line) => `  ${line}\n`).join('')}`.trimEnd(),
  );
}
