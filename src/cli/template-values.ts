// The options that choose a template and set its variables. chat-template.ts reads and fills it.
import { type Command, InvalidArgumentError } from 'commander';

export type TemplateValues = ReadonlyMap<string, string>;

export interface TemplateChoice {
  /** The name of the template. */
  readonly template?: string;
  readonly set?: TemplateValues;
}

export const noValues: TemplateValues = new Map();

export function addTemplateOptions(command: Command): Command {
  return command
    .option('-t, --template <name>', 'build the message from this template (see: parley templates --help)')
    .option('--set <name=value>', 'set a variable of the template; repeatable', templateValue);
}

/** Collects `name=value`. The last value of a name wins. */
function templateValue(text: string, before: TemplateValues = noValues): TemplateValues {
  const [, name, value = ''] = /^([A-Za-z_][\w-]*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Give NAME=VALUE, as in language=German.');
  return new Map([...before, [name, value]]);
}
