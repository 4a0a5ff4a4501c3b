// What `parley sessions delete` will delete: the ids that are given or that match, and the question before it does.
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { IdList } from '../../session-batch/id-list.ts';
import type { BatchDraft } from '../../session-batch/journal.ts';
import { confirm } from '../../terminal/prompt.ts';
import { collectIds } from './draft.ts';
import { collectMatching } from './matching.ts';
import type { FilterChoice } from './session-filter.ts';

export interface DeleteInput {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
  /** Is given instead of ids; null for none. */
  readonly filter: FilterChoice | null;
  /** The batch to resume, instead of ids and filter; null for none. */
  readonly resume: string | null;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly ignoreMissing: boolean;
  readonly max: number;
  readonly concurrency: number;
  /** A result line for each id also at a terminal. */
  readonly verbose: boolean;
}

export function requireOneSource({ words, filter, resume, dryRun }: DeleteInput): void {
  const sources = [words.length > 0, filter !== null, resume !== null].filter(Boolean).length;
  if (sources <= 1 && !(resume !== null && dryRun)) return;
  throw new ParleyError('USAGE', 'Ids, filters and --resume cannot be used together.', {
    hint: 'Nothing was done. Give ids, or filters, or --resume BATCH alone.',
  });
}

/** Fills the list and completes it. */
export async function collect(input: DeleteInput, list: IdList, context: CliContext): Promise<void> {
  if (input.filter === null) await collectIds(input.words, list, input.max, context);
  else await collectMatching(input.filter, list, input.max, context);
  list.complete();
}

/** Shows what would be deleted, and where. Throws unless the answer is yes. */
export async function askFirst(
  { list }: BatchDraft,
  project: string | null,
  context: CliContext,
): Promise<void> {
  const sample = list.sample(3);
  const { profile, url } = context.target;
  const where = url === null ? 'the store on this machine' : url;
  const sessions = counted(list.count, 'session');
  await context.stderr.write(
    `${sessions}${project === null ? '' : ` of project ${project}`}, in ${where}${profile === null ? '' : ` (profile ${profile})`}:\n` +
      `${sample.map((id) => `  ${id}\n`).join('')}${list.count > sample.length ? '  …\n' : ''}`,
  );
  const question = list.count === 1 ? 'Delete this session?' : `Delete these ${list.count} sessions?`;
  const yes = await confirm(question, '--yes', context.prompting);
  if (!yes) throw new ParleyError('USAGE', 'Nothing was deleted.', { hint: 'It was answered with no.' });
}
