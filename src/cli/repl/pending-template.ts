// A template in the REPL: its settings are those of the session from then on. Its text stands at the prompt once it has all that it needs;
// a template that waits for its input makes the next message of what is typed.
import { inputVariable, variablesOf } from '../../config/template-body.ts';
import type { Template } from '../../config/template-file.ts';
import { ParleyError } from '../../service/errors.ts';
import { filledTemplate, templatesOf } from '../chat-template.ts';
import { runTemplatesList } from '../commands/templates/list.ts';
import { requireMode } from '../mode-choice.ts';
import type { Parameter } from '../model-options.ts';
import { type GivenSettings, isEmpty } from '../setting-options.ts';
import type { TemplateValues } from '../template-values.ts';
import type { Next, Scope } from './slash-command.ts';
import { lineFor } from './typed-line.ts';

/** `argument`: the name, then values of variables, then the text. Without a name the next message is as it is typed. */
export async function useTemplate(
  argument: string,
  { context, conversation }: Scope,
  give: (given: GivenSettings) => Promise<void>,
): Promise<Next> {
  const { host, signal } = context;
  if (argument === '') {
    if (conversation.template === null) return runTemplatesList(context);
    conversation.template = null;
    await context.say('The next message goes as it is typed.');
    return undefined;
  }
  const [name = ''] = /^\S+/.exec(argument) ?? [];
  const template = await templatesOf(host).read(name, signal);
  if (template.schema !== null) throw schemaInRepl(name);
  const { values, text } = readValues(argument.slice(name.length).trim(), template);
  const make = (typed: string) =>
    filledTemplate(template, values, typed === '' ? null : typed, howToGive(name));
  const input = variablesOf(template.body).find((variable) => variable.name === inputVariable);
  const waits = text === '' && input !== undefined && input.default === null;
  // A value that is missing is told before anything is changed.
  const message = make(waits ? ' ' : text);
  const { mode, system, title } = template;
  if (mode !== null) {
    await requireMode(mode, context);
    conversation.mode = mode;
  }
  const given = {
    system: system ?? undefined,
    parameters: Object.entries(template.parameters) as Parameter[],
  };
  if (!isEmpty(given)) await give(given);
  if (conversation.sessionId === null) conversation.title ??= title;
  if (!waits) return { initial: lineFor(message) };
  conversation.template = { name, make };
  await context.say(`The next message goes into the template ${name}. /template alone: as it is typed.`);
  return undefined;
}

/** Words of the form `name=value` at the beginning are values, if the template has a variable of that name. */
function readValues(argument: string, { body }: Template): { values: TemplateValues; text: string } {
  const names = variablesOf(body).map(({ name }) => name);
  const values = new Map<string, string>();
  let text = argument;
  for (;;) {
    const [all, name = '', value = ''] = /^([A-Za-z_][\w-]*)=(\S*)\s*/.exec(text) ?? [];
    if (all === undefined || name === inputVariable || !names.includes(name)) return { values, text };
    values.set(name, value);
    text = text.slice(all.length);
  }
}

function howToGive(template: string): (variable: string) => string {
  return (variable) => `Give it: /template ${template} ${variable}=VALUE`;
}

/** Nothing would check the reply. */
function schemaInRepl(name: string): ParleyError {
  return new ParleyError(
    'USAGE',
    `The template ${name} asks for JSON by a schema, which the REPL does not check.`,
    {
      hint: `Use it elsewhere: parley chat -t ${name}`,
    },
  );
}
