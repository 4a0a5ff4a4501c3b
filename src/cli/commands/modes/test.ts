// `parley modes test`: runs one short turn with a mode and reports the result.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { CliContext } from '../../context.ts';
import { chooseMode } from '../../mode-choice.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { tokensLine } from '../../turn-notes.ts';
import { type TrialTurn, trialTurn, withoutSession } from './trial-turn.ts';

export function registerModesTest(parent: Command, run: Run): void {
  parent
    .command('test')
    .description('send a mode one short question, and show the reply, the time and the tokens')
    .argument('[name]', 'the mode (default: the default mode)')
    .action(run(runModesTest));
}

export async function runModesTest(name: string | undefined, context: CliContext): Promise<void> {
  const mode = await chooseMode(name ?? null, context, 'its name');
  const { reply, milliseconds } = await runTrial(mode, context);
  if (reply.mode !== mode) {
    const failure = reply.failure ?? new ParleyError('ENGINE_FAILED', `The mode ${mode} failed.`);
    throw failure.with({ hint: `Its fallback ${reply.mode} replied. ${failure.hint}`.trim() });
  }
  if (context.options.json) {
    const data = { mode, reply: reply.reply, milliseconds, usage: reply.usage };
    return context.stdout.write(successLine(data));
  }
  const writer = context.stdout.untrusted();
  await writer.write(reply.reply);
  await writer.endLine();
  await context.say(`${mode} replied in ${(milliseconds / 1000).toFixed(1)} s; ${tokensLine(reply.usage)}.`);
}

async function runTrial(mode: string, context: CliContext): Promise<TrialTurn> {
  try {
    return await trialTurn(mode, context);
  } catch (error) {
    throw error instanceof ParleyError ? withoutSession(error) : error;
  }
}
