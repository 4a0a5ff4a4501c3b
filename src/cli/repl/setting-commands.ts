// The slash commands for the settings of replies: mode, system prompt, parameters, and templates. A change applies to the current session,
// or to the session that the next message creates.
import { ParleyError } from '../../service/errors.ts';
import type { SessionSettings } from '../../service/session.ts';
import { runModels } from '../commands/models.ts';
import { runGet } from '../commands/sessions/get.ts';
import { requireMode } from '../mode-choice.ts';
import { readParameter } from '../model-options.ts';
import { fetchSession } from '../session-reference.ts';
import {
  changeSettings,
  type GivenSettings,
  initialSettings,
  mergeSettings,
  parameterList,
} from '../setting-options.ts';
import { tokensLine } from '../turn-notes.ts';
import { modeChoices, templateChoices } from './argument-choices.ts';
import { useTemplate } from './pending-template.ts';
import type { Scope, SlashCommand } from './slash-command.ts';

export const settingCommands = {
  mode: {
    name: 'mode',
    argument: '[NAME]',
    description: 'list the modes, or switch to another',
    choices: modeChoices,
    run: async (name, { context, conversation }) => {
      if (name === '') return runModels(context);
      await requireMode(name, context);
      conversation.mode = name;
      return undefined;
    },
  },
  system: {
    name: 'system',
    argument: '[TEXT]',
    description: 'show or set the system prompt of this session ("" removes it)',
    run: async (text, scope) => {
      if (text === '') {
        const { system } = await settingsInUse(scope);
        await scope.context.stdout.write(`${system ?? '(no system prompt of its own)'}\n`);
      } else await applySettings({ system: text === '""' ? null : text, parameters: [] }, scope);
    },
  },
  param: {
    name: 'param',
    argument: '[NAME=VALUE]',
    description: 'show the parameters of this session, or set one (NAME= removes it)',
    run: async (text, scope) => {
      if (text === '') {
        const { parameters } = await settingsInUse(scope);
        return scope.context.stdout.write(`${parameterList(parameters) || '(no parameters of its own)'}\n`);
      }
      const parameter = readParameter(text);
      if (parameter === null)
        throw new ParleyError('USAGE', 'Name a parameter and its value: /param temperature=0.2', {
          hint: '',
        });
      await applySettings({ system: undefined, parameters: [parameter] }, scope);
    },
  },
  template: {
    name: 'template',
    argument: '[NAME]',
    description: 'make the next message from a template: NAME KEY=VALUE TEXT',
    choices: templateChoices,
    run: (argument, scope) => useTemplate(argument, scope, (settings) => applySettings(settings, scope)),
  },
  status: {
    name: 'status',
    argument: '',
    description: 'show the mode, the session, the server, and the tokens of the last reply',
    run: async (_argument, { context, conversation }) => {
      const { target } = context;
      const { template, settings } = conversation;
      const { system, parameters } = initialSettings(settings);
      const lines = [
        `mode: ${conversation.mode ?? ''}`,
        `profile: ${target.profile ?? ''}`,
        `url: ${target.url ?? 'embedded'}`,
        ...(conversation.user === null || conversation.sessionId !== null
          ? []
          : [`user of the next session: ${conversation.user}`]),
        ...conversation.files.map((path) => `file for the next message: ${path}`),
        ...(template === null ? [] : [`template for the next message: ${template.name}`]),
        ...(system === undefined ? [] : [`system prompt of the next session: ${system}`]),
        ...(parameters === undefined ? [] : [`parameters of the next session: ${parameterList(parameters)}`]),
      ];
      await context.stdout.write(lines.map((line) => `${line}\n`).join(''));
      if (conversation.sessionId === null)
        await context.stdout.write('session_id: (the next message creates one)\n');
      else await runGet([conversation.sessionId], { showsMode: false }, context);
      if (conversation.usage !== null)
        await context.stdout.write(`last reply, ${tokensLine(conversation.usage)}\n`);
    },
  },
} as const satisfies Record<string, SlashCommand>;

/** The settings of the session, or of the session that the next message creates. */
async function settingsInUse({ context, conversation }: Scope): Promise<SessionSettings> {
  const { sessionId, settings } = conversation;
  if (sessionId === null) return { system: null, parameters: {}, ...initialSettings(settings) };
  return fetchSession(sessionId, context);
}

async function applySettings(settings: GivenSettings, { context, conversation }: Scope): Promise<void> {
  const { sessionId } = conversation;
  if (sessionId === null) {
    conversation.settings = mergeSettings(settings, conversation.settings);
    return context.say('This applies to the session that the next message creates.');
  }
  await changeSettings(await fetchSession(sessionId, context), settings, context);
}
