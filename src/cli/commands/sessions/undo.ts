// `parley sessions undo`: takes the last turn of a session back. Nothing is erased. Prints the message that was taken back, to be edited.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { Printing } from '../../context.ts';
import type { Run } from '../../run.ts';
import { type Asking, withSession } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';

export function registerUndo(parent: Command, run: Run): void {
  parent
    .command('undo')
    .description('take the last turn of a session back, and print its message')
    .argument('<id>', 'session id, the end of it, or a title')
    .action((id: string, _options, command: Command) => run(command, (context) => runUndo({ id }, context)));
}

export async function runUndo(
  { id }: { readonly id: string },
  context: Asking & Printing,
): Promise<undefined> {
  const { data, body } = await undoTurn(id, context);
  if (context.options.json) {
    await context.stdout.write(`${toJson(body)}\n`);
    return;
  }
  const { content } = data.message;
  const { session_id } = data.session;
  await context.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  await context.say(
    `Took back the last turn of ${session_id}. It comes back with: parley sessions redo ${quoteForShell(session_id)}`,
  );
}

export async function undoTurn(named: string, context: Asking): Promise<Result<MovedTurn>> {
  return withSession(named, context, async (id) => {
    const { backend } = await context.open();
    const call = await context.call();
    return backend.archive.undoTurn({ ...call, idempotencyKey: call.requestId }, id);
  });
}
