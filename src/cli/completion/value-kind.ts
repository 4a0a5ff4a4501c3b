// Finds the kind of value that an option or an argument takes, by its name in the command tree.
import { type Argument, type Command, Option } from 'commander';
import { commandPath } from '../command-tree.ts';

export type LiveKind = 'mode' | 'profile' | 'template' | 'session' | 'deleted session' | 'key';

const byOption: Readonly<Record<string, LiveKind>> = {
  '--mode': 'mode',
  '--profile': 'profile',
  '--session': 'session',
  '--template': 'template',
};

/** By the placeholder in brackets, for options and arguments of any command. */
const byPlaceholder: Readonly<Record<string, LiveKind | 'file'>> = {
  path: 'file',
  file: 'file',
  session: 'session',
  profile: 'profile',
  mode: 'mode',
  'key-id': 'key',
};

/** By the name of the argument, for each command of a group. */
const byGroup: Readonly<Record<string, LiveKind>> = {
  'parley sessions id': 'session',
  'parley profiles name': 'profile',
  'parley modes name': 'mode',
  'parley templates name': 'template',
};

/** By the name of the argument, for one command. */
const byCommand: Readonly<Record<string, LiveKind | null>> = {
  'parley sessions restore id': 'deleted session',
  // The name of a mode that does not exist yet.
  'parley modes add name': null,
};

/** Null for free text. */
export function valueKind(command: Command, parameter: Option | Argument): LiveKind | 'file' | null {
  if (parameter instanceof Option) {
    const placeholder = /[<[]([^>\]]*?)(\.\.\.)?[>\]]/.exec(parameter.flags)?.[1] ?? '';
    return byOption[parameter.long ?? ''] ?? byPlaceholder[placeholder] ?? null;
  }
  const name = parameter.name();
  const own = byCommand[`${commandPath(command)} ${name}`];
  if (own !== undefined) return own;
  const group = command.parent === null ? '' : commandPath(command.parent);
  return byGroup[`${group} ${name}`] ?? byPlaceholder[name] ?? null;
}
