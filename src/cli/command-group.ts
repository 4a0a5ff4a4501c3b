// The commands of a group, by their words.
import type { Command } from 'commander';
import type { Register, Run } from './run.ts';

/** Registers the command that the line names behind the group; all if it names none of them, and none for `second` null. */
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
