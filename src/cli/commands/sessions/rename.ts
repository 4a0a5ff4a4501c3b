// `parley sessions rename`: changes the title of a session.
import type { Command } from 'commander';
import type { CliContext, Printing } from '../../context.ts';
import type { Run } from '../../run.ts';
import { oneSession } from '../../session-argument.ts';
import { type SessionAccess, withSession } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';

export function registerRename(parent: Command, run: Run): void {
  parent
    .command('rename')
    .description('change the title of a session')
    .argument('<id>', oneSession)
    .argument('<title...>', 'the new title, up to 200 characters; several words are joined')
    .action(
      run((id: string, words: string[], context: CliContext) => runRename(id, words.join(' '), context)),
    );
}

export async function runRename(id: string, title: string, context: SessionAccess & Printing): Promise<void> {
  const { data, body } = await withSession(id, context, async (resolved) => {
    const { backend } = await context.open();
    return backend.archive.changeSession(await context.call(), resolved, { title });
  });
  if (context.options.json) await context.stdout.write(`${toJson(body)}\n`);
  else await context.say(`Renamed ${data.session_id} to ${data.title ?? ''}`);
}
