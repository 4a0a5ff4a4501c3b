// `parley templates …`: manages templates, which are files with a message, settings and variables.
import { commandGroup } from '../../command-group.ts';
import { registerTemplatesEdit } from './edit.ts';
import { registerTemplatesList } from './list.ts';
import { registerTemplatesRemove } from './remove.ts';
import { registerTemplatesShow } from './show.ts';

const templatesHelp = `
A template is a file NAME.md in "templates" of the configuration directory:
  ---
  mode: qwen
  system: You write commit messages.
  parameters: {temperature: 0.2}
  ---
  Write a commit message in {{language:English}} for this change:

  {{input}}

  git diff | parley chat -t commit
  git diff | parley chat -t commit --set language=German

  The settings mode, system, parameters, schema and title are optional. {{input}} is the input of chat: words, files and stdin; without {{input}} it is added after the text. {{name}} needs --set name=value, {{name:default}} does not. \\{{ stands for {{.`;

export const registerTemplates = commandGroup({
  name: 'templates',
  description: 'manage templates: messages with settings and variables, for chat -t',
  help: templatesHelp,
  commands: {
    list: registerTemplatesList,
    show: registerTemplatesShow,
    edit: registerTemplatesEdit,
    remove: registerTemplatesRemove,
  },
});
