// Runs `parley sessions purge --user`: shows the user's sessions, asks for confirmation, redacts the input histories, erases the sessions, and
// prints a receipt. Neither the receipt nor a journal contains the user's name.
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
import { redactionMark } from '../../secrets/found-secrets.ts';
import { successLine } from '../../terminal/json.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { PurgeProgress } from './purge-progress.ts';
import { removePurgedJournals } from './purged-journals.ts';
import type { PurgeInput } from './purging.ts';
import { listNotReached, purgeSummary, requireCount } from './purging.ts';

export interface UserPurgeInput extends Omit<PurgeInput, 'deletedBefore'> {
  readonly user: string;
  /** Skips the confirmation. */
  readonly yes?: true;
}

/** How many sessions are listed. */
const maxShown = 10;

/** Other places that may contain the same texts. */
const notReached = [
  'exports and other files made from these sessions',
  'the history of the shell, and the scrollback of terminals',
  'other stores that these sessions were synced or copied to, and the next sync with them',
  'backups and snapshots other than those that Parley keeps beside the store',
  'data sent to the provider of a model',
];

export async function purgeSessionsOf(input: UserPurgeInput, context: CliContext): Promise<number> {
  const { rewrite = false } = input;
  const administration = await context.administration();
  const { backend } = await context.open();
  const project = input.allProjects ? null : (await backend.service.verify(await context.call())).data;
  const request = { project_id: project?.project_id ?? null, user: input.user };
  const plan = await administration.planUserPurge(request);
  const scope = project === null ? 'all projects' : `project ${project.project_name}`;
  const isEmpty = plan.sessions === 0 && !plan.unfinished;
  if (input.dryRun && context.options.json) {
    await context.stdout.write(
      successLine({ project_id: request.project_id, ...plan, not_reached: notReached }),
    );
    return exitDone;
  }
  if (input.dryRun && !(isEmpty && plan.busy.length === 0)) {
    await writeNotice(describePlan(plan, scope, rewrite), context.stdout);
    await listNotReached(context, notReached);
    return exitDone;
  }
  if (isEmpty) return reportNone(plan, request.project_id, scope, context);
  await context.say(describePlan(plan, scope, rewrite));
  if (plan.sessions > 0 && !input.yes) await requireCount(plan.sessions, input.confirm, context);
  const history_lines = await redactTyped(request, administration, context);
  const expected_sessions = input.yes ? null : plan.sessions;
  const progress = new PurgeProgress(plan.sessions, context);
  const onErased = (sessions: number) => progress.add(sessions);
  const report = await progress.over(
    administration.purgeUser({ ...request, expected_sessions, rewrite, onErased }),
  );
  const erased = new Set(report.hashes);
  forgetCurrentSessions(context.host.dataDirectory, (id) => erased.has(auditHash(id)));
  const selection = { project_id: request.project_id, before: context.host.now() };
  const journals = await removePurgedJournals(selection, administration, context);
  const here = { project_id: request.project_id, journals_removed: journals.removed, history_lines };
  await reportEnd(report, here, progress, context);
  return Math.max(await statusOf(report.busy, report.sessions, context), await journals.report());
}

/** The hash of a session's id in the audit log. */
function auditHash(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
}

async function reportNone(
  { busy }: UserPurgePlan,
  project_id: string | null,
  scope: string,
  context: CliContext,
): Promise<number> {
  if (context.options.json) {
    await context.stdout.write(
      successLine({ project_id, sessions: 0, messages: 0, busy, not_reached: notReached }),
    );
  } else if (busy.length === 0) await context.say(`Nothing to erase: this user has no sessions in ${scope}.`);
  return statusOf(busy, 0, context);
}

function describePlan(
  { sessions, deleted, messages, text_bytes, backups, busy, unfinished }: UserPurgePlan,
  scope: string,
  rewrite: boolean,
): string {
  const alreadyDeleted =
    deleted === 0 ? '' : ` (${deleted === sessions ? '' : `${deleted} of them `}already deleted)`;
  const lines = [
    `${counted(sessions, 'session')} of this user in ${scope}${alreadyDeleted}: ${counted(messages, 'message')}, ${counted(text_bytes, 'byte')} of text.`,
    busy.length > 0 && `A turn is running in ${counted(busy.length, 'more session')}, which will be skipped.`,
    backups.length > 0 && `This also removes the backups beside the store: ${backups.join(', ')}.`,
    unfinished && 'An earlier purge was stopped before its end; this run also completes it.',
    `This cannot be undone. It takes a while, and needs space for a second copy of the store.${rewrite ? ' Other users of the store wait until it ends.' : ''}`,
  ];
  return lines.filter(Boolean).join('\n');
}

/** Removes the contents of the user's sessions, and the user's name, from the input histories. Returns the number of changed lines. */
async function redactTyped(
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
  const sessionLines = new Set(await administration.linesOf(request, [...typed]));
  return redactHistories(host, (line) => withoutUser(line, request.user, sessionLines));
}

async function reportEnd(
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
    return context.stdout.write(successLine(all));
  }
  await writeNotice(
    purgeSummary({ facts, integrity, ...report }, journals_removed, progress),
    context.stdout,
  );
  if (history_lines > 0)
    await context.stdout.write(`Also changed ${counted(history_lines, 'line')} of the input history.\n`);
  const more = hashes.length > maxShown ? `, and ${hashes.length - maxShown} more (--json lists all)` : '';
  await writeNotice(
    `Erased at ${report.erased_at}. The audit log lists the sessions by these hashes of their ids: ${hashes.slice(0, maxShown).join(', ')}${more}.`,
    context.stdout,
  );
  await listNotReached(context, notReached);
}

/** Reports the sessions that were skipped because a turn is running. */
async function statusOf(busy: readonly string[], erased: number, context: CliContext): Promise<number> {
  if (busy.length === 0) return exitDone;
  const shown = busy.slice(0, maxShown).join(', ');
  const error = new ParleyError(
    'SESSION_BUSY',
    `${counted(busy.length, 'session')} of this user ${busy.length === 1 ? 'was' : 'were'} skipped, because a turn is running there: ${shown}${busy.length > maxShown ? ', …' : ''}.`,
    { hint: 'Run the same command again when the replies are complete.' },
  );
  const status = await reportInWords(error, context);
  return busy.length === 1 && erased === 0 ? status : exitSomeFailed;
}

/**
 * A line of the input history without the texts of the user's sessions and the name of the user. `sessionLines` are the lines that the
 * sessions contain. The name is replaced only as whole words.
 */
function withoutUser(line: string, user: string, sessionLines: ReadonlySet<string>): string {
  if (sessionLines.has(line)) return redactionMark('message');
  return line.split(user).reduce((before, after) => {
    const isPart = /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);
    return `${before}${isPart ? user : redactionMark('user')}${after}`;
  });
}
