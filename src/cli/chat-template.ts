// The template of a chat: finds it among the user's files, and makes the message of it.
import { dirname, resolve } from 'node:path';
import { fillTemplateBody, inputVariable, variablesOf } from '../config/template-body.ts';
import { TemplateDirectory } from '../config/template-directory.ts';
import type { Template } from '../config/template-file.ts';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import type { CliHost } from './cli-host.ts';
import type { CliContext } from './context.ts';
import type { TemplateChoice, TemplateValues } from './template-values.ts';

/** The template of a chat. Rejects if there is no such template, or if it does not take these values. */
export async function chosenTemplate(
  { template: name, values }: TemplateChoice,
  { host, signal }: Pick<CliContext, 'host' | 'signal'>,
): Promise<Template> {
  if (name === null) throw new ParleyError('USAGE', '--set needs a template.', { hint: 'Name it: -t NAME' });
  const template = await templatesOf(host).read(name, signal);
  checkTemplateValues(template, values);
  return template;
}

/** The path of the template's schema; null for none. A relative path starts at the template's directory. */
export function schemaOf({ path, schema }: Template): string | null {
  return schema === null ? null : resolve(dirname(path), schema);
}

export function templatesOf({ profileFile }: Pick<CliHost, 'profileFile'>): TemplateDirectory {
  return new TemplateDirectory(dirname(profileFile.path));
}

/** Throws `USAGE` for a value of a variable that the template does not have. */
function checkTemplateValues({ name, path, body }: Template, values: TemplateValues): void {
  const names = variablesOf(body).map((variable) => variable.name);
  for (const given of values.keys()) {
    if (given === inputVariable) {
      throw new ParleyError('USAGE', `The variable ${inputVariable} takes no value of --set.`, {
        hint: howToGiveInput,
      });
    }
    if (names.includes(given)) continue;
    const own = names.filter((known) => known !== inputVariable);
    throw new ParleyError('USAGE', `The template ${name} has no variable ${beginning(given)} (${path}).`, {
      hint: own.length === 0 ? 'It has none to set.' : `Its variables: ${own.join(', ')}.`,
    });
  }
}

/** The message. `input` is null if nothing was given. `how` says how a value is given here. Throws `USAGE` for a missing value. */
export function filledTemplate(
  { name, path, body }: Template,
  values: TemplateValues,
  input: string | null,
  how: (variable: string) => string = howToGive,
): string {
  const filled = fillTemplateBody(body, values, input);
  if (filled.kind === 'text') return filled.text;
  const { name: missing, line } = filled.variable;
  throw new ParleyError('USAGE', `The variable ${missing} of the template ${name} has no value (${path}).`, {
    hint: how(missing),
    details: [{ field: missing, problem: `has no value, in line ${line + 1} of the text` }],
  });
}

function howToGive(variable: string): string {
  return variable === inputVariable ? howToGiveInput : `Give it: --set ${variable}=VALUE`;
}

const howToGiveInput = 'Give it as the message: as words, with -f, or on stdin.';
