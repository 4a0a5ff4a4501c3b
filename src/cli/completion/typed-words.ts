// The words of an unfinished line against the command tree: which command it is, what is known of it, and what comes next.
import type { Command, Option } from 'commander';
import { findCommand } from '../command-tree.ts';

export interface TypedLine {
  readonly command: Command;
  /** By commander's names, as far as they are typed: a text, or true for an option without a value. */
  readonly options: Readonly<Record<string, string | true>>;
  /** The option whose value comes next. */
  readonly awaited: Option | null;
  /** What of the last word stands before the value: `--mode=`. */
  readonly prefix: string;
  /** The word to complete, or what of it is the value. */
  readonly current: string;
  /** How many arguments of the command stand before it. */
  readonly position: number;
  /** True after `--`: then all that comes is an argument. */
  readonly argumentsOnly: boolean;
}

export function readTypedWords(words: readonly string[], program: Command): TypedLine {
  const last = words.at(-1) ?? '';
  const options: Record<string, string | true> = {};
  let command = program;
  let position = 0;
  let awaited: Option | null = null;
  let argumentsOnly = false;
  for (const word of words.slice(0, -1)) {
    if (awaited !== null) {
      options[awaited.attributeName()] = word;
      awaited = null;
    } else if (word === '--' && !argumentsOnly) {
      argumentsOnly = true;
    } else if (word.length > 1 && word.startsWith('-') && !argumentsOnly) {
      const { option, value } = readOption(word, command);
      if (option?.required && value === null) awaited = option;
      else if (option !== null) options[option.attributeName()] = value ?? true;
    } else {
      const inner: Command | undefined =
        position === 0 && !argumentsOnly ? findCommand(command, word) : undefined;
      if (inner === undefined) position++;
      else command = inner;
    }
  }
  const line = { command, options, position, argumentsOnly };
  if (awaited === null && !argumentsOnly && /^--[^=]+=/.test(last)) {
    const { option, value } = readOption(last, command);
    if (option?.required && value !== null) {
      return { ...line, awaited: option, prefix: last.slice(0, last.length - value.length), current: value };
    }
  }
  return { ...line, awaited, prefix: '', current: last };
}

/** `--name`, `--name=value`, `-n`, `-nvalue`; several letters in one word are read as the first of them. */
function readOption(word: string, command: Command): { option: Option | null; value: string | null } {
  const equals = word.indexOf('=');
  const isLong = word.startsWith('--');
  const flag = isLong ? word.slice(0, equals < 0 ? undefined : equals) : word.slice(0, 2);
  const option = optionsOf(command).find(({ long, short }) => long === flag || short === flag) ?? null;
  if (isLong) return { option, value: equals < 0 ? null : word.slice(equals + 1) };
  return { option, value: option?.required && word.length > 2 ? word.slice(2) : null };
}

/** A command's own options and those of the groups that it is in. */
function optionsOf(command: Command): readonly Option[] {
  return command.parent === null ? command.options : [...command.options, ...optionsOf(command.parent)];
}
