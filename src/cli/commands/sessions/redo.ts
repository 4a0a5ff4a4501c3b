// `parley sessions redo`: restores the turns that were undone last. Prints the message of the last one.
import type { Command } from 'commander';
import { hasCode } from '../../../service/errors.ts';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { exitDone, exitSomeFailed } from '../../exit-codes.ts';
import type { Run } from '../../run.ts';
import { oneSession } from '../../session-argument.ts';
import { wholeNumber } from '../../whole-number.ts';
import { moveTurn, printMoved } from './turn-move.ts';

export function registerRedo(parent: Command, run: Run): void {
  parent
    .command('redo')
    .description('restore the turn that was undone last, and print its message')
    .argument('<id>', oneSession)
    .option(
      '--turns <n>',
      'restore this many turns, and print the message of the last one',
      wholeNumber(1),
      1,
    )
    .action(run(runRedo));
}

export async function runRedo(
  id: string,
  { turns }: { readonly turns: number },
  context: CliContext,
): Promise<number> {
  let moved = await redoTurn(id, context);
  let count = 1;
  for (; count < turns; count += 1) {
    const next = await nextRedo(moved.data.session.session_id, context);
    if (next === null) break;
    moved = next;
  }
  const turnsText = turns === 1 ? 'the turn' : counted(count, 'turn');
  const rest = count < turns ? ' There was no other turn to restore.' : '';
  await printMoved(moved, context, (session) => `Restored ${turnsText} in ${session}.${rest}`);
  return count < turns ? exitSomeFailed : exitDone;
}

export function redoTurn(named: string, context: CliContext): Promise<Result<MovedTurn>> {
  return moveTurn(named, context, (archive, call, id) => archive.redoTurn(call, id));
}

/** Null if there is no other turn to restore. The service does not report their number in advance. */
async function nextRedo(sessionId: string, context: CliContext): Promise<Result<MovedTurn> | null> {
  try {
    return await redoTurn(sessionId, context);
  } catch (error) {
    if (hasCode(error, 'INVALID_REQUEST')) return null;
    throw error;
  }
}
