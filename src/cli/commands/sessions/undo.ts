// `parley sessions undo`: takes the last turn of a session back. Nothing is erased. Prints the message that was taken back, to be edited.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { moveTurn, printMoved } from './turn-move.ts';

export function registerUndo(parent: Command, run: Run): void {
  parent
    .command('undo')
    .description('take the last turn of a session back, and print its message')
    .argument('<id>', 'session id, the end of it, or a title')
    .action((id: string, _options, command: Command) => run(command, (context) => runUndo({ id }, context)));
}

export async function runUndo({ id }: { readonly id: string }, context: CliContext): Promise<undefined> {
  return printMoved(
    await undoTurn(id, context),
    context,
    (session) =>
      `Took back the last turn of ${session}. It comes back with: parley sessions redo ${quoteForShell(session)}`,
  );
}

export function undoTurn(named: string, context: CliContext): Promise<Result<MovedTurn>> {
  return moveTurn(named, context, (archive, call, id) => archive.undoTurn(call, id));
}
