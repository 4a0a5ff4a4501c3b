// `parley sessions get`: one session or several, as they are now.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { reportFailure } from '../../error-report.ts';
import { exitSomeFailed } from '../../exit-codes.ts';
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
  const { home } = await context.open();
  let status = 0;
  for (const [index, id] of ids.entries()) {
    try {
      const { data, body } = await home.service.getSession(await context.call(), id);
      if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
      else await context.stdout.writeUntrusted(`${index > 0 ? '\n' : ''}${fieldLines(data)}`);
    } catch (error) {
      if (ids.length > 1) await context.say(`Session ${id}:`);
      const own = await reportFailure(error, context);
      if (ids.length === 1 || context.host.signal.aborted || own === 4) return own;
      status = exitSomeFailed;
    }
  }
  return status;
}
