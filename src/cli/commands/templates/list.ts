// `parley templates list`: lists the templates with their modes and variables.
import type { Command } from 'commander';
import { variablesOf } from '../../../config/template-body.ts';
import type { ListedTemplate } from '../../../config/template-directory.ts';
import { templatesOf } from '../../chat-template.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';
import { templateFields } from './show.ts';

const columns: readonly Column<ListedTemplate>[] = [
  { title: 'TEMPLATE', value: ({ name }) => name },
  {
    title: 'MODE',
    value: ({ template, problem }) => (problem === null ? (template?.mode ?? '') : 'faulty'),
  },
  { title: 'VARIABLES', value: variables, flexible: true },
  { title: 'TEXT', value: firstLine, flexible: true },
];

function variables({ template }: ListedTemplate): string {
  return variablesOf(template?.body ?? [])
    .map(({ name, default: defaultValue }) => (defaultValue === null ? name : `${name}=${defaultValue}`))
    .join(' ');
}

function firstLine({ template }: ListedTemplate): string {
  const text = (template?.body ?? []).map((part) => (typeof part === 'string' ? part : `{{${part.name}}}`));
  return text.join('').split('\n', 1)[0] ?? '';
}

export function registerTemplatesList(parent: Command, run: Run): void {
  parent.command('list').description('list the templates with their variables').action(run(runTemplatesList));
}

export async function runTemplatesList(context: CliContext): Promise<void> {
  const templates = await templatesOf(context.host).list(context.signal);
  if (context.options.json) {
    const data = templates.map(({ name, template, problem }) => ({
      name,
      ...(template !== null && templateFields(template)),
      problem,
    }));
    return context.stdout.write(successLine(data));
  }
  await writeTable(context.stdout, columns, templates);
  for (const { name, problem } of templates)
    if (problem !== null) await context.say(`Template ${name} is invalid: ${problem}`);
  if (templates.length === 0)
    await context.say('There are no templates yet. To create one: parley templates edit NAME');
}
