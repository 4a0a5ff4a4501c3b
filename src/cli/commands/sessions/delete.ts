// `parley sessions delete`: hides sessions, one or many. Nothing is deleted unless every id given is one.
import { type Command, InvalidArgumentError } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { exitDone } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { confirm } from '../../terminal/prompt.ts';
import type { GivenId } from '../../terminal/session-ids.ts';
import { runBatch, writeResults } from './batch.ts';
import { givenIds } from './ids.ts';

export interface DeleteInput {
  /** Ids, or `-` for stdin. */
  readonly words: readonly string[];
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly ignoreMissing: boolean;
  readonly max: number;
}

interface DeleteFlags {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly ignoreMissing?: true;
  readonly max: number;
}

export function registerDelete(parent: Command, run: Run): void {
  parent
    .command('delete')
    .description('delete sessions (hides them: sessions restore brings them back)')
    .argument('[id...]', 'session ids, or - for ids on stdin: one a line, or NDJSON with session_id')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show what would go, and delete nothing')
    .option('--ignore-missing', 'an id that is not found is no failure')
    .option('--max <n>', 'refuse to delete more than so many', wholeNumber, 1_000_000)
    .action((words: string[], flags: DeleteFlags, command: Command) =>
      run(command, (context) =>
        runDelete(
          {
            words,
            yes: flags.yes ?? false,
            dryRun: flags.dryRun ?? false,
            ignoreMissing: flags.ignoreMissing ?? false,
            max: flags.max,
          },
          context,
        ),
      ),
    );
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('Give a whole number above 0.');
  return number;
}

export async function runDelete(input: DeleteInput, context: CliContext): Promise<number> {
  const ids = await givenIds(input.words, input.max, context);
  const distinct = ids.filter(({ duplicate }) => !duplicate).length;
  if (distinct > input.max) {
    throw new ParleyError('USAGE', `${distinct} ids were given; at most ${input.max} are deleted at once.`, {
      hint: 'Raise the guard with --max if that is meant.',
    });
  }
  if (input.dryRun) {
    await writeResults(
      ids.filter(({ duplicate }) => !duplicate).map(({ id }) => ({ session_id: id, status: 'would_delete' })),
      context,
    );
    return exitDone;
  }
  if (distinct > 1 && !input.yes) await askFirst(ids, distinct, context);
  const { home } = await context.open();
  return runBatch(
    {
      done: 'deleted',
      ids,
      ignoreMissing: input.ignoreMissing,
      many: async (call, some) => (await home.archive.deleteSessions(call, some)).data.items,
      one: (call, id) => home.service.deleteSession(call, id),
    },
    context,
  );
}

/** Shows what would go, and where, and goes on only after a yes. */
async function askFirst(ids: readonly GivenId[], count: number, context: CliContext): Promise<void> {
  const { home } = await context.open();
  const project = (await home.service.verify(await context.call())).data.project_name;
  const sample = ids.slice(0, 3).map(({ id }) => id);
  const { profile, url } = context.target;
  const where = url === null ? 'the store on this machine' : url;
  await context.stderr.writeUntrusted(
    `${count} sessions${project === undefined ? '' : ` of project ${project}`}, in ${where}${profile === null ? '' : ` (profile ${profile})`}:\n` +
      `${sample.map((id) => `  ${id}\n`).join('')}${ids.length > sample.length ? '  …\n' : ''}`,
  );
  const yes = await confirm(`Delete these ${count} sessions?`, '--yes', context.prompting);
  if (!yes) throw new ParleyError('USAGE', 'Nothing was deleted.', { hint: 'It was answered with no.' });
}
