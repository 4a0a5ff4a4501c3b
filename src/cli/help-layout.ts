// The layout of a help page: the commands of a group come first, and the global options last, by name only.
import { type Command, Help } from 'commander';

export function formatHelp(command: Command, helper: Help): string {
  // Commander's page without the descriptions of the global options.
  const page: Help = Object.assign(Object.create(helper), { showGlobalOptions: false });
  const sections = Help.prototype.formatHelp.call(page, command, page).trimEnd().split('\n\n');
  const commands = sections.filter(isOfCommands);
  const others = sections.filter((section) => !isOfCommands(section));
  const first = others.findIndex((section) => /^(Arguments|Options):\n/.test(section));
  others.splice(first === -1 ? others.length : first, 0, ...commands);
  return `${[...others, ...globalOptions(command, helper)].join('\n\n')}\n`;
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

function globalOptions(command: Command, helper: Help): readonly string[] {
  const names = helper.visibleGlobalOptions(command).map(({ long, short }) => long ?? short ?? '');
  if (names.length === 0) return [];
  const lines = helper.boxWrap(names.join(', '), (helper.helpWidth ?? 80) - 2).split('\n');
  return [['Global options (see parley --help):', ...lines.map((line) => `  ${line}`)].join('\n')];
}
