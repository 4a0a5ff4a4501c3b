// `parley sessions rename`: gives a session another title.
import type { Command } from 'commander';
import type { Printing, ServiceAccess } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';

export interface RenameInput {
  readonly id: string;
  readonly title: string;
}

export function registerRename(parent: Command, run: Run): void {
  parent
    .command('rename')
    .description('give a session another title')
    .argument('<id>', 'session id')
    .argument('<title...>', 'at most 200 characters; several words make one title')
    .action((id: string, words: string[], _options, command: Command) =>
      run(command, (context) => runRename({ id, title: words.join(' ') }, context)),
    );
}

export async function runRename(
  { id, title }: RenameInput,
  context: ServiceAccess & Printing,
): Promise<undefined> {
  idsFromWords([id]);
  const { backend } = await context.open();
  const { data, body } = await backend.archive.changeSession(await context.call(), id, { title });
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.say(`Renamed ${data.session_id} to ${data.title ?? ''}`);
}
