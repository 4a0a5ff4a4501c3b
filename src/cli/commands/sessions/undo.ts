// `parley sessions undo`: undoes the last turns of a session. Nothing is erased. Prints the message of the undone turn, to edit it.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import type { Run } from '../../run.ts';
import { oneSession } from '../../session-argument.ts';
import { fetchNamedSession } from '../../session-reference.ts';
import { wholeNumber } from '../../whole-number.ts';
import { moveTurn, printMoved } from './turn-move.ts';

export function registerUndo(parent: Command, run: Run): void {
  parent
    .command('undo')
    .description('undo the last turn of a session, and print its message')
    .argument('<id>', oneSession)
    .option('--turns <n>', 'undo this many turns, and print the message of the first one', wholeNumber(1), 1)
    .action(run(runUndo));
}

export async function runUndo(
  id: string,
  { turns }: { readonly turns: number },
  context: CliContext,
): Promise<void> {
  if (turns > 1) await requireTurns(id, turns, context);
  let moved = await undoTurn(id, context);
  for (let turn = 1; turn < turns; turn += 1) moved = await undoTurn(moved.data.session.session_id, context);
  const turnsText = turns === 1 ? 'last turn' : `last ${turns} turns`;
  const [object, flag] = turns === 1 ? ['it', ''] : ['them', ` --turns ${turns}`];
  return printMoved(
    moved,
    context,
    (session) =>
      `Undid the ${turnsText} of ${session}. To restore ${object}: parley sessions redo ${quoteForShell(session)}${flag}`,
  );
}

/** Throws `USAGE` if the session has fewer turns, before anything is undone. */
async function requireTurns(named: string, turns: number, context: CliContext): Promise<void> {
  const { message_count: messages } = await fetchNamedSession(named, context);
  const count = Math.ceil(messages / 2);
  if (count >= turns) return;
  throw new ParleyError('USAGE', `The session has ${counted(count, 'turn')}, not ${turns}.`, {
    hint: 'Nothing was undone.',
  });
}

export function undoTurn(named: string, context: CliContext): Promise<Result<MovedTurn>> {
  return moveTurn(named, context, (archive, call, id) => archive.undoTurn(call, id));
}
