// The template of a chat: finds it among the user's files, and fills it in.
import { dirname, resolve } from 'node:path';
import { fillTemplateBody, inputVariable, variablesOf } from '../config/template-body.ts';
import { TemplateDirectory } from '../config/template-directory.ts';
import type { Template } from '../config/template-file.ts';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import type { CliHost } from './cli-host.ts';
import type { CliContext } from './context.ts';
import { noValues, type TemplateChoice, type TemplateValues } from './template-values.ts';

/** Reads the chosen template. Rejects if there is no such template, or if it does not have the variables of these values. */
export async function chosenTemplate(
  { template: name, set: values = noValues }: TemplateChoice,
  { host, signal }: Pick<CliContext, 'host' | 'signal'>,
): Promise<Template> {
  if (name === undefined)
    throw new ParleyError('USAGE', '--set needs a template.', { hint: 'Name it: -t NAME' });
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
  for (const variable of values.keys()) {
    if (variable === inputVariable) {
      throw new ParleyError('USAGE', `The variable ${inputVariable} cannot be set with --set.`, {
        hint: inputHint,
      });
    }
    if (names.includes(variable)) continue;
    const settable = names.filter((name) => name !== inputVariable);
    throw new ParleyError('USAGE', `The template ${name} has no variable ${beginning(variable)} (${path}).`, {
      hint: settable.length === 0 ? 'It has no variables to set.' : `Its variables: ${settable.join(', ')}.`,
    });
  }
}

/** The filled-in message. `input` is null if there is none. `hintFor` says how to set a variable. Throws `USAGE` for a missing value. */
export function filledTemplate(
  { name, path, body }: Template,
  values: TemplateValues,
  input: string | null,
  hintFor: (variable: string) => string = variableHint,
): string {
  const filled = fillTemplateBody(body, values, input);
  if (filled.kind === 'text') return filled.text;
  const { name: missing, line } = filled.variable;
  throw new ParleyError('USAGE', `The variable ${missing} of the template ${name} has no value (${path}).`, {
    hint: hintFor(missing),
    details: [{ field: missing, problem: `has no value, in line ${line + 1} of the text` }],
  });
}

function variableHint(variable: string): string {
  return variable === inputVariable ? inputHint : `Set it: --set ${variable}=VALUE`;
}

const inputHint = 'Pass it as the message: as words, with -f, or on stdin.';
