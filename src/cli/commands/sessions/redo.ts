// `parley sessions redo`: brings back the turn that was taken back last. Prints its message.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { moveTurn, printMoved } from './turn-move.ts';

export function registerRedo(parent: Command, run: Run): void {
  parent
    .command('redo')
    .description('bring back the turn that was taken back last, and print its message')
    .argument('<id>', 'session id, the end of it, or a title')
    .action((id: string, _options, command: Command) => run(command, (context) => runRedo({ id }, context)));
}

export async function runRedo({ id }: { readonly id: string }, context: CliContext): Promise<undefined> {
  return printMoved(
    await redoTurn(id, context),
    context,
    (session) => `Brought back the turn in ${session}.`,
  );
}

export function redoTurn(named: string, context: CliContext): Promise<Result<MovedTurn>> {
  return moveTurn(named, context, (archive, call, id) => archive.redoTurn(call, id));
}
