// The types of a command's registration, so that no command imports the program that contains it.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/**
 * Makes an action of commander from the work of a command. The work gets the arguments, the options if the command has any, and the context. It
 * resolves to the exit status, or to nothing for 0. A failure is reported, and the backend is closed.
 */
export type Run = <Inputs extends unknown[]>(
  work: (...inputs: [...Inputs, CliContext]) => Promise<number> | Promise<void>,
) => (...inputs: [...Inputs, Command]) => Promise<void>;

/**
 * Adds one or more commands to a parent. `second` is the second word of the command line, which may name the only command of a group that is
 * needed; null if no commands of groups are needed.
 */
export type Register = (parent: Command, run: Run, second?: string | null) => void;
