// The types of a command's registration, so that no command imports the program that contains it.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** The work of a command. Resolves to the exit status, or to nothing for 0. */
export type Work = (context: CliContext) => Promise<number> | Promise<void>;

/** Runs the work of a command with its context, reports its failure and closes its backend. */
export type Run = (command: Command, work: Work) => Promise<void>;

/**
 * Adds one or more commands to a parent. `second` is the second word of the command line, which may name the only command of a group that is
 * needed; null if no commands of groups are needed.
 */
export type Register = (parent: Command, run: Run, second?: string | null) => void;
