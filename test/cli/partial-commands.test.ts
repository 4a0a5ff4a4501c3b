// A program with only the options that the command line names reads it as the whole program does.
import { type Command, CommanderError, type Option } from 'commander';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandPath, eachCommand } from '../../src/cli/command-tree.ts';
import { hasOptions } from '../../src/cli/partial-commands.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Run } from '../../src/cli/run.ts';
import { runs } from '../support/runs.ts';

const silent = { writeOut() {}, writeErr() {} };

/** The command that ran, its options and its arguments; null for words that cannot be parsed. */
async function read(words: readonly string[], isPartial: boolean) {
  let found: { path: string; options: object; args: readonly string[]; hasOptions: boolean } | null = null;
  const run: Run =
    () =>
    async (...inputs) => {
      const command = inputs.at(-1) as Command;
      const options = command.optsWithGlobals();
      found = { path: commandPath(command), options, hasOptions: hasOptions(command), args: command.args };
    };
  const program = await buildProgram(words, '', run, silent, { isPartial });
  eachCommand(program, (command) => command.exitOverride());
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return found;
}

const values = ['1', 'x', '-c', '90d', 'a=b', 'full'];

/** The ways to type an option: its long and its short form, with the value after it, after `=`, or attached. */
function formsOf({ long, short, required, optional, argChoices }: Option): string[][] {
  const flags = [long, short].filter((flag) => flag != null);
  if (!required && !optional) return flags.map((flag) => [flag]);
  return [...(argChoices ?? []), ...values].flatMap((value) =>
    flags.flatMap((flag) => [[flag, value], [flag.startsWith('--') ? `${flag}=${value}` : flag + value]]),
  );
}

test('every command, with any of its options and the global ones', async () => {
  const whole = await buildProgram([], '', () => async () => {}, silent);
  const commands: Command[] = [];
  eachCommand(whole, (command) => {
    if (command.parent !== null && command.commands.length === 0) commands.push(command);
  });
  const lines = fc.constantFrom(...commands).chain((command) => {
    const path = commandPath(command).split(' ').slice(1);
    const option = fc.constantFrom(...[...command.options, ...whole.options].flatMap(formsOf));
    const argument = fc.constantFrom(['x'], ['-'], ['--', '-c'], ['-nc'], ['--no-such']);
    const words = fc.array(fc.oneof({ weight: 3, arbitrary: option }, argument), { maxLength: 5 });
    return words.map((more) => [...path, ...more.flat()]);
  });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(lines, async (words) => {
      const partial = await read(words, true);
      if (partial === null) return;
      count += 1;
      expect(partial).toEqual(await read(words, false));
    }),
    { numRuns: runs(1000, 20_000) },
  );
  expect(count).toBeGreaterThan(200);
}, 60_000);
