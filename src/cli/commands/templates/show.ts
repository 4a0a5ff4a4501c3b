// `parley templates show`: prints the file of a template, or its parts as JSON.
import type { Command } from 'commander';
import { variablesOf } from '../../../config/template-body.ts';
import type { Template } from '../../../config/template-file.ts';
import { templatesOf } from '../../chat-template.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';

export function registerTemplatesShow(parent: Command, run: Run): void {
  parent
    .command('show')
    .description('print the file of a template')
    .argument('<name>', 'the template, as shown by templates list')
    .action(run(runTemplatesShow));
}

export async function runTemplatesShow(name: string, context: CliContext): Promise<void> {
  const templates = templatesOf(context.host);
  if (context.options.json) {
    const template = await templates.read(name, context.signal);
    return context.stdout.write(successLine({ name, ...templateFields(template) }));
  }
  const text = await templates.text(name, context.signal);
  await context.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** The fields of a template in JSON, except its name. */
export function templateFields({ path, mode, system, parameters, schema, title, body }: Template) {
  const variables = variablesOf(body).map(({ name, default: defaultValue }) => ({
    name,
    default: defaultValue,
  }));
  return { path, mode, system, parameters, schema, title, variables };
}
