// `parley sessions messages`: what was said in a session, both sides, whole.
import type { Command } from 'commander';
import type { Message } from '../../../service/session.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';

export interface MessagesInput {
  readonly id: string;
}

export function registerMessages(parent: Command, run: Run): void {
  parent
    .command('messages')
    .description('print what was said in a session (--json: a body a page)')
    .argument('<id>', 'session id')
    .action((id: string, _options, command: Command) =>
      run(command, (context) => runMessages({ id }, context)),
    );
}

export async function runMessages({ id }: MessagesInput, context: CliContext): Promise<undefined> {
  idsFromWords([id]);
  const { home } = await context.open();
  let cursor: string | null = null;
  do {
    const page = await home.archive.listMessages(await context.call(), id, { limit: 200, cursor });
    if (context.options.json) await context.stdout.write(`${toJson(page.body)}\n`);
    else for (const message of page.data.items) await context.stdout.writeUntrusted(transcript(message));
    cursor = page.data.next_cursor;
  } while (cursor !== null);
}

function transcript(message: Message): string {
  const who = message.role === 'user' ? 'user' : `assistant (${message.mode})`;
  const cut = message.finish_reason === 'interrupted' || message.finish_reason === 'error';
  const heading = `## ${who}, ${message.created_at}${cut ? `, cut: ${message.finish_reason}` : ''}`;
  const gap = message.position > 0 ? '\n' : '';
  return `${gap}${heading}\n\n${message.content}${message.content.endsWith('\n') ? '' : '\n'}`;
}
