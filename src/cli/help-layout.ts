// The layout of a help page: the commands of a group come first, and the global options last, by name only.
import { type Command, Help, type Option } from 'commander';
import { commandPath } from './command-tree.ts';

/** A narrower description begins on the line after its term. */
const minDescriptionWidth = 30;
/** Longer lines of prose are hard to read. */
const maxProseWidth = 100;
/** Narrower text is not wrapped. Commander's limit is 40. */
const minWidthToWrap = 20;

export function formatHelp(command: Command, helper: Help): string {
  // Commander's page without the descriptions of the global options.
  const page: Help = Object.assign(Object.create(helper), {
    ...{ showGlobalOptions: false, minWidthToWrap },
    formatItem: (...item: Parameters<Help['formatItem']>) => formatItem(...item),
  });
  const sections = Help.prototype.formatHelp.call(page, command, page).trimEnd().split('\n\n');
  const commands = sections.filter(isOfCommands);
  const others = sections.filter((section) => !isOfCommands(section));
  const first = others.findIndex((section) => /^(Arguments|Options):\n/.test(section));
  others.splice(first === -1 ? others.length : first, 0, ...commands);
  return `${[...others, ...globalOptions(helper.visibleGlobalOptions(command), page)].join('\n\n')}\n`;
}

/** A command with its required options, the other options and its arguments. */
export function commandUsage(command: Command): string {
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  return [commandPath(command), ...required, command.usage()].join(' ');
}

function formatItem(term: string, termWidth: number, description: string, page: Help): string {
  const width = page.helpWidth ?? 80;
  if (width - termWidth - 4 >= minDescriptionWidth || description === '')
    return Help.prototype.formatItem.call(page, term, termWidth, description, page);
  return `  ${term}\n${indented(description, 4, width)}`;
}

/** The section with command lines and what each does. A line that continues on the next one has its description below it. */
export function exampleText(examples: readonly (readonly [string, string])[], width: number): string {
  const longest = Math.max(...examples.map(([line]) => line.length));
  const isWide = examples.every(([line, does]) => !line.includes('\n') && longest + 4 + does.length <= width);
  const lines = examples.map(([line, does]) =>
    isWide ? `  ${line.padEnd(longest)}  ${does}` : `  ${line}\n${indented(does, 4, width)}`,
  );
  return ['', 'Examples:', ...lines, ''].join('\n');
}

/** A text after the options of a command, for the width of the output. */
export function helpNote(text: string): (context: { readonly command: Command }) => string {
  return ({ command }) => fittedText(text, command.configureOutput().getOutHelpWidth?.() ?? 80);
}

/**
 * Wraps prose, and rows of a term, two spaces or more and a description. Command lines stay whole, so that they can be copied.
 */
export function fittedText(text: string, width: number): string {
  const columns = Math.min(width, maxProseWidth);
  const fit = (line: string) => (line.length > columns ? fittedLine(line, columns) : line);
  return text.split('\n').map(fit).join('\n');
}

function fittedLine(line: string, columns: number): string {
  const [, indent = '', term = '', gap = '', prose = ''] =
    /^( *)(?:(\S+(?: \S+)*)( {2,}))?(.*)$/.exec(line) ?? [];
  const before = indent.length + term.length + gap.length;
  if (term === '' && /^(\S.* \| )?parley /.test(prose)) return line;
  const isBeside = term === '' || columns - before >= minDescriptionWidth;
  const text = indented(prose, isBeside ? before : indent.length + 2, columns);
  return isBeside ? `${indent}${term}${gap}${text.slice(before)}` : `${indent}${term}\n${text}`;
}

/** The text in lines of up to `width` columns, each with `indent` spaces before it. */
function indented(text: string, indent: number, width: number): string {
  const help = Object.assign(new Help(), { minWidthToWrap });
  const lines = help.boxWrap(text, width - indent).split('\n');
  return lines.map((line) => `${' '.repeat(indent)}${line}`).join('\n');
}

/** The section of a group's help that lists its commands. */
export function commandLines(group: Command): string {
  const helper = group.createHelp();
  helper.prepareContext({ helpWidth: group.configureOutput().getErrHelpWidth?.() ?? 80 });
  return helper.formatHelp(group, helper).split('\n\n').find(isOfCommands) ?? '';
}

function isOfCommands(section: string): boolean {
  return section.startsWith('Commands:\n');
}

function globalOptions(options: readonly Option[], page: Help): readonly string[] {
  if (options.length === 0) return [];
  const names = options.map(({ long, short }) => long ?? short ?? '');
  const lines = page.boxWrap(names.join(', '), (page.helpWidth ?? 80) - 2).split('\n');
  return [['Global options (see parley --help):', ...lines.map((line) => `  ${line}`)].join('\n')];
}
