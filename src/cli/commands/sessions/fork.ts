// `parley sessions fork`: copies a session, to continue it in another direction. Prints only the id of the copy, for scripts.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import { rememberOrReport } from '../../remember-session.ts';
import type { Run } from '../../run.ts';
import { oneSession } from '../../session-argument.ts';
import { type SessionAccess, withSession } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';
import { withTypedName } from '../../typed-name.ts';
import { wholeNumber } from '../../whole-number.ts';

interface ForkFlags {
  /** The position of the last message to copy. Without it, the last turn with a reply is copied, too. */
  readonly at?: number;
  /** Without it, the title of the session. */
  readonly title?: string;
}

export function registerFork(parent: Command, run: Run): void {
  parent
    .command('fork')
    .description('copy a session, to continue it in another direction, and print the id of the copy')
    .argument('<id>', oneSession)
    .option(
      '--at <position>',
      'position of the last reply to copy, as shown by messages --format json (default: the last)',
      wholeNumber(0),
    )
    .option('--title <title>', 'title of the copy (default: that of the session)')
    .action(run(runFork));
}

export async function runFork(id: string, flags: ForkFlags, context: CliContext): Promise<void> {
  const { data, body } = await forkSession(id, flags, context);
  await rememberOrReport(data.session_id, data.mode, context);
  await context.stdout.write(context.options.json ? `${toJson(body)}\n` : `${data.session_id}\n`);
}

/** `idempotencyKey` is null to use the id of the call. */
export async function forkSession(
  named: string,
  { at, title }: ForkFlags,
  context: SessionAccess,
  idempotencyKey: string | null = null,
): Promise<Result<Session>> {
  const request = { ...(at !== undefined && { through: at }), ...(title !== undefined && { title }) };
  return withSession(named, context, async (id) => {
    const { backend } = await context.open();
    const call = await context.call();
    const keyed = { ...call, idempotencyKey: idempotencyKey ?? call.requestId };
    return backend.archive.forkSession(keyed, id, request).catch((error: unknown) => {
      throw withTypedName(error, (field) => (field === 'through' ? '--at' : null));
    });
  });
}
