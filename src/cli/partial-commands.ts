// Commands that create only a part of their options. Creating all takes a tenth of the time of a short command, and causes a collection of
// garbage before its end.
import { Command, Option } from 'commander';

/** For the help of the program, which shows neither the commands of groups nor the options of commands. */
export class OutlinedProgram extends Command {
  override createCommand(name?: string): Command {
    return new OutlinedCommand(name);
  }
}

/** A command that only records that it has options. */
class OutlinedCommand extends Command {
  override option(): this {
    return this.addOption();
  }

  override addOption(): this {
    (this.options as Option[])[0] ??= new Option('--option');
    return this;
  }
}

/**
 * Creates the options that a command line names, and those with a default value. A command line that this program can parse means the same to
 * the whole program. Errors and help need the whole program.
 */
export class PartialProgram extends Command {
  /** The flags of the command line without values: `--mode` of `--mode=echo`, `-m` of `-mecho`; and `--color` of `--no-color`. */
  readonly #typed: readonly string[];
  /** The options that were not created. */
  readonly #skipped: string[] = [];

  constructor(argv: readonly string[], name?: string) {
    super(name);
    const typed = argv
      .filter((word) => word.startsWith('-') && word !== '-' && word !== '--')
      .map((word) => (word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2)));
    this.#typed = [...typed, ...typed.map((flag) => flag.replace(/^--no-/, '--'))];
  }

  /** True if options were not created. */
  get skipsOptions(): boolean {
    return this.#skipped.length > 0;
  }

  override createCommand(name?: string): Command {
    return new PartialProgram(this.#typed, name);
  }

  override option(flags: string, ...rest: unknown[]): this {
    if (this.#isNeeded(flags, rest)) return super.option(flags, ...(rest as [string]));
    this.#skipped.push(flags);
    return this;
  }

  #isNeeded(flags: string, [, parse, value]: readonly unknown[]): boolean {
    // The default of `--no-color` is true. Beside `--color` it has none, and is typed only if both are created.
    if (flags.includes('--no-')) return !this.#hasSkipped(flags.replace(/.*--no-/, '--'));
    const hasDefault = value !== undefined || (parse !== undefined && typeof parse !== 'function');
    // An option too many has no effect, so a typed flag may also be a part of another one.
    return hasDefault || this.#typed.some((typed) => flags.includes(typed));
  }

  #hasSkipped(flag: string): boolean {
    return this.#skipped.some((flags) => flags.split(/[ ,]+/).includes(flag));
  }
}

/** True if the command has options, created or not. */
export function hasOptions(command: Command): boolean {
  return command.options.length > 0 || (command instanceof PartialProgram && command.skipsOptions);
}
