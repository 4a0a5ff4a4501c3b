// Writes the manual page, parley(1): every command and option of the tree, and the help topics. The build writes it to dist/parley.1.
import type { Command, Help, Option } from 'commander';
import { outputHelpText, shownCommands } from '../../src/cli/command-tree.ts';
import { helpAppendix as loadedHelp } from '../../src/cli/commands/help.ts';
import { listExitMeanings } from '../../src/cli/manual/exit-meanings.ts';
import { files, variables } from '../../src/cli/manual/variables-and-files.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { entry, line, section, subsection, verbatim } from './roff.ts';

export async function manPage(version: string): Promise<string> {
  const program = await buildProgram([], version, () => async () => {}, { getOutHelpWidth: () => 70 });
  const help = program.createHelp();
  const name = program.name();
  return [
    `.\\" Made of the command tree by the build.\n.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"\n.nh\n`,
    section('NAME', line(`${name} - ${lowercased(program.description()).replace(/\.$/, '')}`)),
    section('SYNOPSIS', `.B ${name}\n${line('[options] command [arguments]')}`),
    section('DESCRIPTION', overview.map(line).join('.PP\n')),
    section(
      'OPTIONS',
      line('These options work with every command, before or after its name.') + options(help, program),
    ),
    section('COMMANDS', (await Promise.all(shownCommands(program).map(commandPart))).join('')),
    section('EXIT STATUS', listExitMeanings().map(exitEntry).join('')),
    section(
      'ENVIRONMENT',
      variables.map(({ name: variable, purpose }) => entry(variable, sentence(purpose))).join(''),
    ),
    section('FILES', files.map(({ name: path, purpose }) => entry(path, sentence(purpose))).join('')),
    section('EXAMPLES', verbatim((await loadedHelp(program)).replace(/^\s*Examples:\n/, ''))),
    section('SEE ALSO', line('parley help formatting, parley help COMMAND, jq(1)')),
  ].join('');
}

const overview = [
  'Parley stores conversations as sessions. The service runs inside the process, over one SQLite file, or on a server with the same API.',
  'Data is written to stdout, everything else to stderr. --json prints only JSON. --jq applies a jq filter to it.',
];

async function commandPart(command: Command): Promise<string> {
  const inner = shownCommands(command);
  // A group is listed as its commands.
  if (inner.length > 0) {
    const parts = inner.filter((one) => one.name() !== 'help').map(commandPart);
    return (await Promise.all(parts)).join('');
  }
  const help = command.createHelp();
  const args = help.visibleArguments(command);
  const further = `${helpAppendix(command)}${await loadedHelp(command)}`;
  return subsection(
    help.commandUsage(command).trim(),
    line(sentence(command.description())) +
      args.map((one) => entry(help.argumentTerm(one), sentence(help.argumentDescription(one)))).join('') +
      options(help, command) +
      (further === '' ? '' : verbatim(further)),
  );
}

function options(help: Help, command: Command): string {
  const isHelp = ({ long }: Option) => long === '--help' && command.parent !== null;
  return help
    .visibleOptions(command)
    .filter((option) => !isHelp(option))
    .map((option) => entry(help.optionTerm(option), sentence(help.optionDescription(option))))
    .join('');
}

/** The text that a command adds to its help: examples and hints. */
function helpAppendix(command: Command): string {
  return outputHelpText(command).slice(command.helpInformation().length).replace(/^\n+/, '').trimEnd();
}

function exitEntry({ status, meaning, codes }: ReturnType<typeof listExitMeanings>[number]): string {
  return entry(String(status), `${sentence(meaning)}${codes.length > 0 ? ` ${codes.join(' ')}` : ''}`);
}

function lowercased(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!:]$/.test(text) ? '' : '.'}`;
}
