// `parley sessions get`: shows one or more sessions.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { failureBody } from '../../../service/result.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import { reportInWords } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { someSessions } from '../../session-argument.ts';
import { missingSession, resolveSessions, withSession } from '../../session-reference.ts';
import { timesIn } from '../../shown-time.ts';
import { fieldLines } from '../../terminal/fields.ts';
import { toJson } from '../../terminal/json.ts';
import { utcOption } from '../../utc-option.ts';
import { areOnStdin, readGivenIds } from './ids.ts';

interface GetFlags {
  readonly utc?: boolean;
  /** False if the caller shows the mode itself. */
  readonly showsMode?: boolean;
}

export function registerGet(parent: Command, run: Run): void {
  parent
    .command('get')
    .description('show sessions')
    .argument('[id...]', someSessions)
    .addOption(utcOption())
    .action(run(runGet));
}

export async function runGet(
  ids: readonly string[],
  { utc = false, showsMode = true }: GetFlags,
  context: CliContext,
): Promise<number> {
  const isFromStdin = ids.length === 0 || areOnStdin(ids, context);
  const form = { utc, showsMode, isFromStdin };
  const named = isFromStdin ? [...(await readGivenIds(ids, context, false))] : ids;
  if (named.length === 1) {
    await showSession(named[0] ?? '', { gap: '', ...form }, context);
    return exitDone;
  }
  if (named.length === 0) {
    await context.say('Standard input has no ids: nothing was shown.');
    return exitDone;
  }
  // A service that cannot be opened is one failure, not one for each id.
  await context.open();
  const resolved = isFromStdin ? named : (await resolveSessions(named, context)).map(({ id }) => id);
  let status: number = exitDone;
  for (const [index, id] of resolved.entries()) {
    const gap = index > 0 ? '\n' : '';
    try {
      await showSession(id, { gap, ...form }, context);
    } catch (error) {
      if (!(error instanceof ParleyError) || context.signal.aborted) throw error;
      // The key is refused for every other id, too.
      if (error.kind === 'key') throw error;
      await showFailure(id, gap, error, context);
      status = exitSomeFailed;
    }
  }
  return status;
}

interface Form extends Required<GetFlags> {
  readonly gap: string;
  /** True if the id was read from stdin, so it is neither a title nor the end of an id. */
  readonly isFromStdin: boolean;
}

async function showSession(
  id: string,
  { gap, utc, showsMode, isFromStdin }: Form,
  context: CliContext,
): Promise<void> {
  const fetch = async (sessionId: string) => {
    const { backend } = await context.open();
    return backend.service.getSession(await context.call(), sessionId);
  };
  const fetched = isFromStdin
    ? fetch(id).catch((error) => {
        throw missingSession(error, id, context, 'active', isFromStdin);
      })
    : withSession(id, context, fetch);
  const { data, body } = await fetched;
  const { stdout, host } = context;
  if (context.options.json) await stdout.write(`${toJson(body)}\n`);
  else
    await stdout.write(
      `${gap}${fieldLines(visibleFields(data, showsMode), timesIn(stdout, host.now(), { utc }))}`,
    );
}

/** The fields to show. Settings, pins, archiving and tags appear only if they are set. */
function visibleFields(session: Session, showsMode: boolean): object {
  const { mode, system, parent_id, forked_at, pinned, archived, tags, user, ...facts } = session;
  const settings = Object.entries({ mode: showsMode ? mode : null, system, parent_id, forked_at }).filter(
    ([, value]) => value !== null,
  );
  return {
    ...facts,
    ...Object.fromEntries(settings),
    ...(user != null && { user }),
    ...(pinned && { pinned }),
    ...(archived && { archived }),
    ...(tags.length > 0 && { tags: tags.join(', ') }),
  };
}

/** Writes the failure to stdout as well, so that its reader knows which session is missing. */
async function showFailure(id: string, gap: string, error: ParleyError, context: CliContext): Promise<void> {
  const { stdout, options, requestId } = context;
  if (options.json) {
    const body = failureBody(error, requestId) as object;
    await stdout.write(`${toJson({ session_id: id, ...body })}\n`);
  } else {
    await stdout.write(`${gap}${fieldLines({ session_id: id, error: error.code })}`);
  }
  await context.say(`Session ${id}:`);
  await reportInWords(error, context);
}
