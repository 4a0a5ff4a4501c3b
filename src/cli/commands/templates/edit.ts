// `parley templates edit`: edits a template in the user's editor, or reads it from stdin. An invalid template from the editor is saved, too,
// so that no work is lost, and its error is reported. An invalid one from stdin is refused.
import type { Command } from 'commander';
import { readTemplate } from '../../../config/template-file.ts';
import { ParleyError } from '../../../service/errors.ts';
import { templatesOf } from '../../chat-template.ts';
import type { CliContext } from '../../context.ts';
import { writeInEditor } from '../../repl/external-editor.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { readMessage } from '../../terminal/stdin.ts';

const maxBytes = 2 * 1024 * 1024;
const newTemplate = `---
# mode: NAME
# system: the system prompt
# parameters: {temperature: 0.2}
# title: the title of a new session
---
{{input}}
`;

export function registerTemplatesEdit(parent: Command, run: Run): void {
  parent
    .command('edit')
    .description('create or edit a template in $VISUAL or $EDITOR, or read it from a file: edit NAME < FILE')
    .argument('<name>', 'the template, for chat -t')
    .action(run(runTemplatesEdit));
}

export async function runTemplatesEdit(name: string, context: CliContext): Promise<void> {
  const templates = templatesOf(context.host);
  const path = templates.path(name);
  const before = templates.has(name) ? await templates.text(name, context.signal) : null;
  const after = await editedText(before ?? newTemplate, context);
  if (after === (before ?? newTemplate)) {
    return context.say('Nothing was changed.');
  }
  if (context.stdinIsFed) await requireValid(name, after);
  templates.write(name, after);
  // Throws if the template is invalid. The file stays as written.
  await templates.read(name, context.signal);
  if (context.options.json) await context.stdout.write(successLine({ name, path }));
  else await context.say(`Saved ${path}. To use it: parley chat -t ${name} "…"`);
}

async function requireValid(name: string, text: string): Promise<void> {
  try {
    await readTemplate(name, 'Standard input', text);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw error.with({ hint: `${error.hint} Nothing was changed.`.trim(), remedy: null });
  }
}

async function editedText(text: string, context: CliContext): Promise<string> {
  const { host, signal } = context;
  if (context.stdinIsFed) {
    const input = await readMessage(context.reading('a template', 'at a terminal an editor opens'), maxBytes);
    if (input.trim() !== '') return input;
    throw new ParleyError('USAGE', 'There is no template on standard input.', {
      hint: 'Nothing was changed.',
    });
  }
  if (!context.prompting.allowed && !host.env['VISUAL'] && !host.env['EDITOR']) {
    throw new ParleyError('USAGE', 'There is no terminal to open an editor in.', {
      hint: `Pipe the template in: ${context.commandPath} NAME < FILE. Or set VISUAL or EDITOR to an editor with a window.`,
    });
  }
  const edited = await writeInEditor(text, host.env, signal);
  if (edited !== null) return `${edited}\n`;
  throw new ParleyError('USAGE', 'The editor failed.', { hint: 'Nothing was changed.' });
}
