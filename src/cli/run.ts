// How a command is run: what its registration is given, so that no command needs to know the program it is part of.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** What a command does, given its context; resolves to the exit status, or to nothing for 0. */
export type Work = (context: CliContext) => Promise<number | undefined>;

/** Runs a command's work with its context, reports its failure, closes what it opened. */
export type Run = (command: Command, work: Work) => Promise<void>;

/** Adds a command, or several, below another. */
export type Register = (parent: Command, run: Run) => void;
