// `parley sessions redo`: brings back the turn that was taken back last. Prints its message.
import type { Command } from 'commander';
import type { Result } from '../../../service/result.ts';
import type { MovedTurn } from '../../../service/session-archive.ts';
import type { Printing, ServiceAccess } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { idsFromWords } from '../../terminal/session-ids.ts';

export function registerRedo(parent: Command, run: Run): void {
  parent
    .command('redo')
    .description('bring back the turn that was taken back last, and print its message')
    .argument('<id>', 'session id')
    .action((id: string, _options, command: Command) => run(command, (context) => runRedo({ id }, context)));
}

export async function runRedo(
  { id }: { readonly id: string },
  context: ServiceAccess & Printing,
): Promise<undefined> {
  idsFromWords([id]);
  const { data, body } = await redoTurn(id, context);
  if (context.options.json) {
    await context.stdout.write(`${toJson(body)}\n`);
    return;
  }
  const { content } = data.message;
  await context.stdout.write(content.endsWith('\n') ? content : `${content}\n`);
  await context.say(`Brought back the turn in ${id}.`);
}

export async function redoTurn(id: string, context: ServiceAccess): Promise<Result<MovedTurn>> {
  const { backend } = await context.open();
  const call = await context.call();
  return backend.archive.redoTurn({ ...call, idempotencyKey: call.requestId }, id);
}
