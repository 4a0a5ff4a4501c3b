// What `parley sessions purge --user` does: it shows what there is of the person, asks, takes what they typed out of the histories, erases
// their sessions, and gives a receipt. Neither the receipt nor a journal holds their name.
import { createHash } from 'node:crypto';
import { forgetCurrentSessions } from '../../../config/current-session.ts';
import type { Administration } from '../../../service/administration.ts';
import type { UserPurgePlan, UserPurgeReport, UserPurgeRequest } from '../../../service/erasure.ts';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { reportInWords } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import { redactHistories } from '../../repl/history-redaction.ts';
import { removeJournals } from '../../session-batch/journal-removal.ts';
import { PurgeProgress } from './purge-progress.ts';
import type { PurgeInput } from './purging.ts';
import { ended, requireCount, tell, tellNotReached } from './purging.ts';
import { withoutUser } from './user-lines.ts';

export interface UserPurgeInput extends Omit<PurgeInput, 'deletedBefore'> {
  readonly user: string;
  /** Do not ask. */
  readonly yes: boolean;
}

/** How many sessions a terminal names. */
const mostShown = 10;

/** Places that may hold the same texts. */
const notReached = [
  'exports and other files that were made of these sessions',
  'the history of the shell, and the scroll-back of terminals',
  'other places that these sessions were synced with or copied to, and the next sync with them',
  'backups and snapshots other than those that Parley keeps beside the store',
  'what was sent to the provider of a model',
];

export async function purgeSessionsOf(input: UserPurgeInput, context: CliContext): Promise<number> {
  const administration = await context.administration();
  const { backend } = await context.open();
  const project = input.allProjects ? null : (await backend.service.verify(await context.call())).data;
  const request = { project_id: project?.project_id ?? null, user: input.user };
  const plan = await administration.planUserPurge(request);
  const whose = project === null ? 'all projects' : `project ${project.project_name}`;
  if (input.dryRun && !context.options.json) {
    await context.stdout.write(`${described(plan, whose, input.rewrite)}\n`);
    await tellNotReached(context, notReached);
    return exitDone;
  }
  if (input.dryRun) {
    await tell({ project_id: request.project_id, ...plan, not_reached: notReached }, context);
    return exitDone;
  }
  if (plan.sessions === 0 && !plan.unfinished) return tellNothing(plan, request.project_id, whose, context);
  await context.say(described(plan, whose, input.rewrite));
  if (plan.sessions > 0 && !input.yes) await requireCount(plan.sessions, input.confirm, context);
  const history_lines = await withoutTyped(request, administration, context);
  const expected_sessions = input.yes ? null : plan.sessions;
  const { rewrite } = input;
  const progress = new PurgeProgress(plan.sessions, context);
  const report = await administration
    .purgeUser({ ...request, expected_sessions, rewrite, erased: (sessions) => progress.erased(sessions) })
    .finally(() => progress.stop());
  const erased = new Set(report.hashes);
  forgetCurrentSessions(context.host.dataDirectory, (id) => erased.has(markOf(id)));
  const journals_removed = await removeJournals(context.host.dataDirectory, {
    origin: context.target.origin,
    project_id: request.project_id,
    before: context.host.now(),
    holdsAny: (project_id, ids) => administration.holdsAny(project_id, ids),
    locks: context.host.locks,
  });
  const here = { project_id: request.project_id, journals_removed, history_lines };
  await tellEnd(report, here, progress, context);
  return statusOf(report.busy, report.sessions, context);
}

/** The name of a session in the audit log. */
function markOf(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
}

async function tellNothing(
  { busy }: UserPurgePlan,
  project_id: string | null,
  whose: string,
  context: CliContext,
): Promise<number> {
  if (context.options.json) {
    await tell({ project_id, sessions: 0, messages: 0, busy, not_reached: notReached }, context);
  } else if (busy.length === 0)
    await context.say(`Nothing to erase: no session of ${whose} is of this user.`);
  return statusOf(busy, 0, context);
}

function described(
  { sessions, deleted, messages, text_bytes, backups, busy, unfinished }: UserPurgePlan,
  whose: string,
  rewrite: boolean,
): string {
  const marked = deleted > 0 ? ` (${deleted} of them deleted already)` : '';
  const lines = [
    `${counted(sessions, 'session')} of this user in ${whose}${marked}: ${counted(messages, 'message')}, ${counted(text_bytes, 'byte')} of text.`,
    busy.length > 0 && `A turn runs in ${counted(busy.length, 'more session')}, which will be left.`,
    backups.length > 0 && `The backups beside the store go, too: ${backups.join(', ')}.`,
    unfinished && 'An earlier purge was stopped before its end: it is finished, too.',
    `This cannot be undone. It takes a while, and room for a second copy of the store.${rewrite ? ' Whoever else uses the store waits meanwhile.' : ''}`,
  ];
  return lines.filter(Boolean).join('\n');
}

/** Takes out of the histories what the person's sessions hold, and their name. Returns the number of changed lines. */
async function withoutTyped(
  request: UserPurgeRequest,
  administration: Administration,
  { host }: CliContext,
): Promise<number> {
  const typed = new Set<string>();
  await redactHistories(host, (line) => {
    typed.add(line);
    return line;
  });
  if (typed.size === 0) return 0;
  const said = new Set(await administration.linesOf(request, [...typed]));
  return redactHistories(host, (line) => withoutUser(line, request.user, said));
}

async function tellEnd(
  { facts, integrity, hashes, busy, ...report }: UserPurgeReport,
  here: {
    readonly project_id: string | null;
    readonly journals_removed: readonly string[];
    readonly history_lines: number;
  },
  progress: PurgeProgress,
  context: CliContext,
): Promise<void> {
  const { journals_removed, history_lines } = here;
  if (context.options.json) {
    const ownFacts = Object.fromEntries(facts.map(({ name, value }) => [name, value]));
    const all = { ...here, ...report, ...ownFacts, integrity, hashes, busy, not_reached: notReached };
    await tell(all, context);
    return;
  }
  await context.stdout.write(ended({ facts, integrity, ...report }, journals_removed, progress));
  if (history_lines > 0)
    await context.stdout.write(`${counted(history_lines, 'line')} of what was typed changed, too.\n`);
  const more = hashes.length > mostShown ? `, and ${hashes.length - mostShown} more (--json names all)` : '';
  await context.stdout.write(
    `The audit log names them by these hashes of their ids: ${hashes.slice(0, mostShown).join(', ')}${more}. ${report.erased_at}\n`,
  );
  await tellNotReached(context, notReached);
}

/** The sessions that are left are a failure, of one session or of some. */
async function statusOf(busy: readonly string[], erased: number, context: CliContext): Promise<number> {
  if (busy.length === 0) return exitDone;
  const shown = busy.slice(0, mostShown).join(', ');
  const error = new ParleyError(
    'SESSION_BUSY',
    `${counted(busy.length, 'session')} of this user ${busy.length === 1 ? 'is' : 'are'} left, because a turn runs there: ${shown}${busy.length > mostShown ? ', …' : ''}.`,
    { hint: 'When the replies are complete, give the same command again.' },
  );
  const status = await reportInWords(error, context);
  return busy.length === 1 && erased === 0 ? status : exitSomeFailed;
}
