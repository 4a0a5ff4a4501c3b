// Lists the possible next words of an incomplete command line, for the script of a shell: one line each, with the word, a tab and a
// description.
import type { Argument, Command, Option } from 'commander';
import { findCommand, shownCommands } from '../command-tree.ts';
import type { CliContext, GlobalOptions } from '../context.ts';
import { topicNames } from '../manual/topics.ts';
import { filterLine } from '../terminal/filter.ts';
import { type Candidate, liveValues } from './live-values.ts';
import { readTypedWords, type TypedLine } from './typed-words.ts';
import { valueKind } from './value-kind.ts';

/** Tells the script that file names are possible, too. */
const filesLine = ':files\n';

const maxDescriptionCharacters = 80;

export async function completionLines(
  words: readonly string[],
  program: Command,
  context: CliContext,
): Promise<string> {
  const line = readTypedWords(words, program);
  const { command, openOption, current, argumentsOnly } = line;
  if (openOption !== null) return valueLines(line, openOption, context);
  if (current.startsWith('-') && !argumentsOnly) return lines(optionCandidates(command), '');
  const inner =
    command.name() === 'help'
      ? helpCandidates(words.slice(0, -1), program)
      : shownCommands(command).map(candidateOf);
  const own = lines(line.position === 0 || command.name() === 'help' ? inner : [], '');
  const argument = argumentAt(command, line.position);
  return own + (argument === undefined ? '' : await valueLines(line, argument, context));
}

async function valueLines(
  line: TypedLine,
  parameter: Option | Argument,
  context: CliContext,
): Promise<string> {
  if (parameter.argChoices !== undefined) {
    return lines(
      parameter.argChoices.map((value) => ({ value, description: '' })),
      line.prefix,
    );
  }
  const kind = valueKind(line.command, parameter);
  if (kind === null) return '';
  if (kind === 'file') return filesLine;
  return lines(await liveValues(kind, line.current, context.withOptions(globalOptionsOf(line))), line.prefix);
}

/** The options that select the service to ask for values. */
function globalOptionsOf({ options }: TypedLine): Partial<GlobalOptions> {
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : null);
  return {
    profile: text('profile'),
    url: text('url'),
    ca: text('ca'),
    insecureHttp: options['insecureHttp'] === true,
  };
}

function optionCandidates(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

/** The words that may follow `help` and the commands after it. */
function helpCandidates(words: readonly string[], program: Command): readonly Candidate[] {
  const path = words.slice(words.lastIndexOf('help') + 1);
  let group: Command | undefined = words[0] === 'help' ? program : findCommand(program, words[0] ?? '');
  for (const word of path) group = group && findCommand(group, word);
  const topics = topicNames.map((value) => ({ value, description: 'topic' }));
  return [...(group ? shownCommands(group).map(candidateOf) : []), ...(group === program ? topics : [])];
}

function candidateOf(command: Command): Candidate {
  return { value: command.name(), description: command.description() };
}

function argumentAt({ registeredArguments }: Command, position: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[position] ?? (last?.variadic ? last : undefined);
}

function lines(candidates: readonly Candidate[], prefix: string): string {
  return candidates
    .map(({ value, description }) => `${prefix}${value}${description && `\t${shortened(description)}`}\n`)
    .join('');
}

/** Titles and descriptions may come from any server. The filter keeps them on one line and free of control sequences. */
function shortened(description: string): string {
  const text = filterLine(description).trim();
  const beginning = text.match(new RegExp(`^.{0,${maxDescriptionCharacters}}`, 'su'))?.[0] ?? '';
  return beginning.length < text.length ? `${beginning}…` : text;
}
