// `parley sessions undo`: takes the last turn of a session back. Nothing is erased. Prints the message that was taken back, to be edited.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { Printing, ServiceAccess } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';

export function registerUndo(parent: Command, run: Run): void {
  parent
    .command('undo')
    .description('take the last turn of a session back, and print its message')
    .argument('<id>', 'session id')
    .action((id: string, _options, command: Command) => run(command, (context) => runUndo({ id }, context)));
}

export async function runUndo(
  { id }: { readonly id: string },
  context: ServiceAccess & Printing,
): Promise<undefined> {
  idsFromWords([id]);
  const { data, body } = await undoTurn(id, context);
  if (context.options.json) {
    await context.stdout.write(`${toJson(body)}\n`);
    return;
  }
  const { content } = data.message;
  await context.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  await context.say(
    `Took back the last turn of ${id}. It comes back with: parley sessions redo ${quoteForShell(id)}`,
  );
}

export async function undoTurn(id: string, context: ServiceAccess): Promise<Result<MovedTurn>> {
  const { backend } = await context.open();
  const call = await context.call();
  return backend.archive.undoTurn({ ...call, idempotencyKey: call.requestId }, id);
}
