// Runs /template: applies the settings of a template to the session. If the template has all its values, the filled text is put at the
// prompt. If its input is missing, the next typed message becomes the input.
import { inputVariable, variablesOf } from '../../config/template-body.ts';
import type { Template } from '../../config/template-file.ts';
import { ParleyError } from '../../service/errors.ts';
import { filledTemplate, templatesOf } from '../chat-template.ts';
import { runTemplatesList } from '../commands/templates/list.ts';
import { requireMode } from '../mode-choice.ts';
import type { Parameter } from '../model-options.ts';
import { type GivenSettings, isEmpty } from '../setting-options.ts';
import type { TemplateValues } from '../template-values.ts';
import type { LineResult, Scope } from './slash-command.ts';
import { lineFor } from './typed-line.ts';

/** `argument` holds the name, then values of variables, then the text. An empty argument cancels a pending template, or lists all. */
export async function useTemplate(
  argument: string,
  { context, conversation }: Scope,
  applySettings: (settings: GivenSettings) => Promise<void>,
): Promise<LineResult> {
  const { host, signal } = context;
  if (argument === '') {
    if (conversation.template === null) {
      await runTemplatesList(context);
      return undefined;
    }
    conversation.template = null;
    await context.say('The next message is sent as typed.');
    return undefined;
  }
  const [name = ''] = /^\S+/.exec(argument) ?? [];
  const template = await templatesOf(host).read(name, signal);
  if (template.schema !== null) throw schemaNotChecked(name);
  const { values, text } = readValues(argument.slice(name.length).trim(), template);
  const make = (typed: string) =>
    filledTemplate(template, values, typed === '' ? null : typed, hintToSet(name));
  const input = variablesOf(template.body).find((variable) => variable.name === inputVariable);
  const waits = text === '' && input !== undefined && input.default === null;
  // A missing value is reported before anything is changed.
  const message = make(waits ? ' ' : text);
  const { mode, system, title } = template;
  if (mode !== null) {
    await requireMode(mode, context);
    conversation.mode = mode;
  }
  const settings = {
    system: system ?? undefined,
    parameters: Object.entries(template.parameters) as Parameter[],
  };
  if (!isEmpty(settings)) await applySettings(settings);
  if (conversation.sessionId === null) conversation.title ??= title;
  if (!waits) return { initial: lineFor(message) };
  conversation.template = { name, make };
  await context.say(`The next message fills the template ${name}. /template alone cancels this.`);
  return undefined;
}

/** Leading words of the form `name=value` are values if the template has a variable of that name. The rest is the text. */
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

function hintToSet(template: string): (variable: string) => string {
  return (variable) => `Set it: /template ${template} ${variable}=VALUE`;
}

function schemaNotChecked(name: string): ParleyError {
  return new ParleyError(
    'USAGE',
    `The template ${name} asks for JSON that matches a schema, which the REPL does not check.`,
    { hint: `Use it in a chat: parley chat -t ${name}` },
  );
}
