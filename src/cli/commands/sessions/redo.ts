// `parley sessions redo`: brings back the turn that was taken back last. Prints its message.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import type { Printing } from '../../context.ts';
import type { Run } from '../../run.ts';
import { type Asking, withSession } from '../../session-reference.ts';
import { toJson } from '../../terminal/json.ts';

export function registerRedo(parent: Command, run: Run): void {
  parent
    .command('redo')
    .description('bring back the turn that was taken back last, and print its message')
    .argument('<id>', 'session id, the end of it, or a title')
    .action((id: string, _options, command: Command) => run(command, (context) => runRedo({ id }, context)));
}

export async function runRedo(
  { id }: { readonly id: string },
  context: Asking & Printing,
): Promise<undefined> {
  const { data, body } = await redoTurn(id, context);
  if (context.options.json) {
    await context.stdout.write(`${toJson(body)}\n`);
    return;
  }
  const { content } = data.message;
  const { session_id } = data.session;
  await context.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  await context.say(`Brought back the turn in ${session_id}.`);
}

export async function redoTurn(named: string, context: Asking): Promise<Result<MovedTurn>> {
  return withSession(named, context, async (id) => {
    const { backend } = await context.open();
    const call = await context.call();
    return backend.archive.redoTurn({ ...call, idempotencyKey: call.requestId }, id);
  });
}
