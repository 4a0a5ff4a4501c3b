// Registers the commands of a group.
import type { Command } from 'commander';
import type { Register, Run } from './run.ts';

/** Registers the command that follows the group on the command line, or all if it names none of them. Registers none if `second` is null. */
export function registerCommands(
  group: Command,
  run: Run,
  commands: Readonly<Record<string, Register>>,
  second: string | null = '',
): void {
  if (second === null) return;
  const named = Object.hasOwn(commands, second) ? commands[second] : undefined;
  for (const register of named ? [named] : Object.values(commands)) register(group, run);
}
