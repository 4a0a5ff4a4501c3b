// The plan of a batch: the ids that are given or that match, and the confirmation.
import { offers } from '../../../service/backend.ts';
import { ParleyError } from '../../../service/errors.ts';
import { quoted } from '../../../service/quoted.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { type BatchAction, type BatchKind, batchKinds } from '../../session-batch/batch-kind.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { fetchSession } from '../../session-reference.ts';
import { shownTime } from '../../shown-time.ts';
import { writeNotice } from '../../terminal/notice.ts';
import { confirm } from '../../terminal/prompt.ts';
import { collectIds } from './draft.ts';
import { collectMatching } from './matching.ts';
import type { FilterChoice } from './session-filter.ts';

export interface ActionInput extends BatchAction {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
  /** Selects the sessions instead of ids; null for none. */
  readonly filter: FilterChoice | null;
  /** The batch to resume instead of ids and filter. */
  readonly resume?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly ignoreMissing?: true;
  /** True to reject if the only session is missing, for a caller that reports failures itself. */
  readonly throwsMissing?: boolean;
  readonly max: number;
  readonly concurrency: number;
  /** Prints a result line for each id, even at a terminal. */
  readonly verbose?: true;
}

export function requireOneSource({ words, filter, resume, dryRun }: ActionInput): void {
  const sources = [words.length > 0, filter !== null, resume !== undefined].filter(Boolean).length;
  if (sources <= 1 && !(resume !== undefined && dryRun)) return;
  throw new ParleyError('USAGE', 'Ids, filters and --resume cannot be used together.', {
    hint: 'Nothing was done. Use ids, or filters, or --resume BATCH alone.',
  });
}

/** Fills and completes the list. Resolves to the sessions that were looked up because they were not named by their full id. */
export async function collect(
  input: ActionInput,
  list: IdList,
  context: CliContext,
): Promise<readonly Session[]> {
  const { words, filter, max, kind } = input;
  let named: readonly Session[] = [];
  if (filter === null)
    named = await collectIds(list, { words, max, option: '--max', state: 'active' }, context);
  else await collectMatching(list, { filter, archived: kind === 'unarchive', max }, context);
  list.complete();
  return named;
}

/** Shows a session that was named by its title or the end of its id. Throws unless the user confirms. */
export async function confirmNamed(
  session: Session,
  { kind }: BatchAction,
  context: CliContext,
): Promise<void> {
  await writeNotice(`  ${sessionLine(session, context)}`, context.stderr);
  await requireYes(kind, 'this session', context);
}

function sessionLine(
  { session_id, title, message_count, updated_at }: Session,
  { host }: CliContext,
): string {
  const facts = `${counted(message_count, 'message')}, last active ${shownTime(updated_at, host.now())}`;
  return `${session_id}  ${title === null ? '(no title)' : quoted(title)}, ${facts}`;
}

/** Shows what would be changed, and where. Throws unless the user confirms. */
export async function confirmBatch(
  { list }: BatchDraft,
  { kind }: BatchAction,
  project: string | null,
  context: CliContext,
): Promise<void> {
  const { first, last } = list.ends(3);
  const lines: string[] = [];
  for (const id of [...first, ...last]) lines.push(`  ${await lineOfId(id, context)}`);
  if (first.length + last.length < list.count) lines.splice(first.length, 0, '  …');
  const { profile, url, store, storeName } = context.target;
  const where = url ?? (store === null ? 'the store on this machine' : `the store ${storeName}`);
  const sessions = counted(list.count, 'session');
  const heading = `${sessions}${project === null ? '' : ` of project ${project}`}, in ${where}${profile === null ? '' : ` (profile ${profile})`}:`;
  await writeNotice([heading, ...lines].join('\n'), context.stderr);
  await requireYes(kind, list.count === 1 ? 'this session' : `these ${list.count} sessions`, context);
}

/** The facts of the session, or only its id if they cannot be read. */
async function lineOfId(id: string, context: CliContext): Promise<string> {
  const { backend } = await context.open();
  if (!offers(backend, 'archive')) return id;
  try {
    return sessionLine(await fetchSession(id, context), context);
  } catch (error) {
    if (error instanceof ParleyError) return id;
    throw error;
  }
}

/** Throws `USAGE` unless the user agrees. */
export async function requireYes(kind: BatchKind, sessions: string, context: CliContext): Promise<void> {
  const { question, done } = batchKinds[kind];
  const yes = await confirm(`${question} ${sessions}?`, '--yes', context.prompting);
  if (!yes) throw new ParleyError('USAGE', `Nothing was ${done}.`, { hint: 'You answered no.' });
}
