// `parley sessions get`: one session or several, as they are now.
import type { Command } from 'commander';
import type { Backend } from '../../../service/backend.ts';
import { ParleyError } from '../../../service/errors.ts';
import { failureBody } from '../../../service/result.ts';
import type { Session } from '../../../service/session.ts';
import type { CliContext, Printing, ServiceAccess } from '../../context.ts';
import { tellFailure } from '../../error-report.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { fieldLines } from '../../terminal/fields.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';

export interface GetInput {
  readonly ids: readonly string[];
}

export function registerGet(parent: Command, run: Run): void {
  parent
    .command('get')
    .description('show sessions')
    .argument('<id...>', 'session ids')
    .action((ids: string[], _options, command: Command) =>
      run(command, (context) => runGet({ ids }, context)),
    );
}

export async function runGet({ ids }: GetInput, context: CliContext): Promise<number> {
  idsFromWords(ids);
  const { backend } = await context.open();
  if (ids.length === 1) {
    await showSession(ids[0] ?? '', '', backend, context);
    return exitDone;
  }
  let status: number = exitDone;
  for (const [index, id] of ids.entries()) {
    const gap = index > 0 ? '\n' : '';
    try {
      await showSession(id, gap, backend, context);
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

async function showSession(
  id: string,
  gap: string,
  { service }: Backend,
  context: ServiceAccess & Printing,
): Promise<void> {
  const { data, body } = await service.getSession(await context.call(), id);
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.stdout.write(`${gap}${fieldLines(told(data))}`);
}

/** The fields to show: settings only where the session has some. */
function told(session: Session): object {
  const { mode, system, parent_id, forked_at, ...facts } = session;
  const settings = Object.entries({ mode, system, parent_id, forked_at }).filter(
    ([, value]) => value !== null,
  );
  return { ...facts, ...Object.fromEntries(settings) };
}

/** The failure is in the data as well, so that a reader of stdout alone knows which session is missing. */
async function showFailure(id: string, gap: string, error: ParleyError, context: CliContext): Promise<void> {
  const { stdout, options, requestId } = context;
  if (options.json) {
    const body = failureBody(error, requestId) as object;
    await stdout.write(`${toJson({ session_id: id, ...body })}\n`);
  } else {
    await stdout.write(`${gap}${fieldLines({ session_id: id, error: error.code })}`);
  }
  await context.say(`Session ${id}:`);
  await tellFailure(error, context);
}
