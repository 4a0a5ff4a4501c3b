// `parley sessions create`: a new, empty session. Prints its id alone, so that a script can keep it.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';

export interface CreateInput {
  readonly title: string | null;
}

export function registerCreate(parent: Command, run: Run): void {
  parent
    .command('create')
    .description('start an empty session and print its id')
    .option('--title <title>', 'title, at most 200 characters')
    .action(({ title }: { title?: string }, command: Command) =>
      run(command, (context) => runCreate({ title: title ?? null }, context)),
    );
}

export async function runCreate({ title }: CreateInput, context: CliContext): Promise<undefined> {
  const { backend } = await context.open();
  const { data, body } = await backend.service.createSession(await context.call(), { title });
  await context.rememberSession(data.session_id, null);
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.stdout.write(`${data.session_id}\n`);
}
