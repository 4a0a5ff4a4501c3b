// Parses the words of an incomplete command line: the command, the options so far, and what comes next.
import type { Command, Option } from 'commander';
import { findCommand } from '../command-tree.ts';

export interface TypedLine {
  readonly command: Command;
  /** The options so far, by commander's names. The value is true for an option without a value. */
  readonly options: Readonly<Record<string, string | true>>;
  /** The option whose value comes next. */
  readonly openOption: Option | null;
  /** The part of the last word before the value: `--mode=`. */
  readonly prefix: string;
  /** The word to complete, or the part of it that is the value. */
  readonly current: string;
  /** The number of arguments before it. */
  readonly position: number;
  /** True after `--`: all further words are arguments. */
  readonly argumentsOnly: boolean;
}

export function readTypedWords(words: readonly string[], program: Command): TypedLine {
  const last = words.at(-1) ?? '';
  const options: Record<string, string | true> = {};
  let command = program;
  let position = 0;
  let openOption: Option | null = null;
  let argumentsOnly = false;
  for (const word of words.slice(0, -1)) {
    if (openOption !== null) {
      options[openOption.attributeName()] = word;
      openOption = null;
    } else if (word === '--' && !argumentsOnly) {
      argumentsOnly = true;
    } else if (word.length > 1 && word.startsWith('-') && !argumentsOnly) {
      const { option, value } = readOption(word, command);
      if (option?.required && value === null) openOption = option;
      else if (option !== null) options[option.attributeName()] = value ?? true;
    } else {
      const inner: Command | undefined =
        position === 0 && !argumentsOnly ? findCommand(command, word) : undefined;
      if (inner === undefined) position++;
      else command = inner;
    }
  }
  const line = { command, options, position, argumentsOnly };
  if (openOption === null && !argumentsOnly && /^--[^=]+=/.test(last)) {
    const { option, value } = readOption(last, command);
    if (option?.required && value !== null) {
      return {
        ...line,
        openOption: option,
        prefix: last.slice(0, last.length - value.length),
        current: value,
      };
    }
  }
  return { ...line, openOption, prefix: '', current: last };
}

/** Parses `--name`, `--name=value`, `-n` and `-nvalue`. Of several letters in one word, only the first counts. */
function readOption(word: string, command: Command): { option: Option | null; value: string | null } {
  const equals = word.indexOf('=');
  const isLong = word.startsWith('--');
  const flag = isLong ? word.slice(0, equals < 0 ? undefined : equals) : word.slice(0, 2);
  const option = optionsOf(command).find(({ long, short }) => long === flag || short === flag) ?? null;
  if (isLong) return { option, value: equals < 0 ? null : word.slice(equals + 1) };
  return { option, value: option?.required && word.length > 2 ? word.slice(2) : null };
}

/** The options of a command and of its parents. */
function optionsOf(command: Command): readonly Option[] {
  return command.parent === null ? command.options : [...command.options, ...optionsOf(command.parent)];
}
