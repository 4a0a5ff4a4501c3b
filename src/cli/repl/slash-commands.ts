// The slash commands of the REPL. A slash command calls the code of the equivalent command where there is one. To add a slash command,
// add an entry here.
import { ParleyError } from '../../service/errors.ts';
import { runMessages } from '../commands/sessions/messages.ts';
import { runRename } from '../commands/sessions/rename.ts';
import { runRestore } from '../commands/sessions/restore.ts';
import { runSearch } from '../commands/sessions/search.ts';
import { counted } from '../counted.ts';
import { resolveSession } from '../session-reference.ts';
import { sessionChoices, withHome, writtenFileChoices } from './argument-choices.ts';
import { attach } from './attachments.ts';
import { titleOf } from './conversation.ts';
import { lastReply } from './last-messages.ts';
import { organisingCommands } from './organising-commands.ts';
import { findSession, namedSession, pickSession } from './session-search.ts';
import { settingCommands } from './setting-commands.ts';
import { requireArgument, requireSessionId, resume, type SlashCommand } from './slash-command.ts';
import { turnCommands } from './turn-commands.ts';
import { pathIn } from './typed-line.ts';

export const slashCommands: readonly SlashCommand[] = [
  {
    name: 'help',
    argument: '',
    description: 'show this help',
    run: async (_argument, { context }) => {
      const { helpText } = await import('./help-text.ts');
      await context.stdout.write(await helpText(slashCommands, context.stdout));
    },
  },
  settingCommands.mode,
  settingCommands.system,
  settingCommands.param,
  settingCommands.template,
  {
    name: 'new',
    argument: '[TITLE]',
    description: 'start a new session',
    run: async (title, { context, conversation }) => {
      conversation.enter(null, null);
      if (title === '') return;
      const { backend } = await context.open();
      const { data } = await backend.service.createSession(await context.call(), { title });
      conversation.enter(data.session_id, data.title);
      await context.rememberSession(data.session_id, null);
    },
  },
  {
    name: 'sessions',
    argument: '[WORDS]',
    description: 'pick a session by its title and continue it',
    run: async (words, scope) => {
      const { source, context } = scope;
      const found = await source.lend(() => pickSession(words, context));
      if (found !== null) await resume(found, scope);
    },
  },
  {
    name: 'resume',
    argument: '[ID|TITLE]',
    description: 'continue a session',
    choices: sessionChoices,
    run: async (argument, scope) => {
      const { source, context } = scope;
      const found =
        argument === ''
          ? await source.lend(() => pickSession('', context))
          : await findSession(argument, context);
      if (found !== null) await resume(found, scope);
    },
  },
  {
    name: 'search',
    argument: 'WORDS',
    description: 'find sessions by the words of their messages',
    run: (words, { context, source }) => {
      const query = requireArgument(words, 'Name the words to search for: /search WORDS');
      return source.lend(() => runSearch(query, { limit: 10 }, context, (id) => `/resume ${id}`));
    },
  },
  {
    name: 'title',
    argument: '[TITLE]',
    description: 'show or change the title of this session',
    run: async (title, { context, conversation }) => {
      if (title !== '' && conversation.sessionId === null) {
        // The next message creates the session with this title.
        conversation.title = title;
        return;
      }
      const id = requireSessionId(conversation);
      if (title === '') conversation.title = await titleOf(id, context);
      else await runRename(id, title, context);
      if (title !== '') conversation.title = title;
      else await context.stdout.write(`${conversation.title ?? '(no title)'}\n`);
    },
  },
  {
    name: 'history',
    argument: '',
    description: 'print all messages of this session',
    run: (_argument, { context, conversation, source }) => {
      const id = requireSessionId(conversation);
      return source.lend(() => runMessages(id, { markdown: 'auto' }, context));
    },
  },
  turnCommands.retry,
  turnCommands.regenerate,
  turnCommands.undo,
  turnCommands.redo,
  turnCommands.fork,
  turnCommands.back,
  organisingCommands.pin,
  organisingCommands.archive,
  organisingCommands.tag,
  organisingCommands.delete,
  {
    name: 'restore',
    argument: '[ID|TITLE]',
    description: 'bring back a deleted session and continue it',
    run: async (argument, scope) => {
      const { context, conversation } = scope;
      const reference = argument || conversation.deletedId || conversation.sessionId;
      if (reference === null) {
        throw new ParleyError('USAGE', 'No session was deleted in this REPL.', {
          hint: 'Name one: /restore ID',
        });
      }
      const { id } = await resolveSession(reference, context, 'deleted');
      await runRestore([id], { throwsMissing: true }, context);
      const { title, mode } = await namedSession(id, context);
      conversation.enter(id, title);
      conversation.continueInMode(mode);
    },
  },
  {
    name: 'copy',
    argument: '',
    description: 'copy the last reply to the clipboard',
    run: async (_argument, { context, conversation }) => {
      const { sessionId } = conversation;
      const reply = conversation.reply || (sessionId === null ? '' : await lastReply(sessionId, context));
      if (reply === '') throw new ParleyError('USAGE', 'There is no reply to copy yet.');
      const { copyToClipboard } = await import('./clipboard.ts');
      const { env } = context.host;
      const methods = await copyToClipboard(reply, { terminal: context.stdout, env });
      if (methods.length === 0) {
        throw new ParleyError('USAGE', 'No clipboard is available here.', {
          hint: '/save FILE writes the session to a file.',
        });
      }
      await context.say(`Copied ${counted([...reply].length, 'character')} (with ${methods.join(' and ')}).`);
    },
  },
  {
    name: 'save',
    argument: 'FILE',
    description: 'write the messages of this session to a new file',
    choices: (beginning, { host }) => writtenFileChoices(beginning, host.env['HOME']),
    run: async (path, { context, conversation }) => {
      const { saveSession } = await import('./saved-session.ts');
      const name = pathIn(requireArgument(path, 'Name the file to write: /save FILE'));
      const file = withHome(name, context.host.env['HOME']);
      await saveSession(requireSessionId(conversation), file, context);
    },
  },
  {
    name: 'file',
    argument: 'PATH',
    description: 'attach a file to the next message (/file alone removes all files)',
    choices: (beginning, { host }) => writtenFileChoices(beginning, host.env['HOME']),
    run: async (path, { context, conversation }) => {
      await attach(withHome(pathIn(path), context.host.env['HOME']), conversation, context);
    },
  },
  turnCommands.edit,
  settingCommands.status,
  {
    name: 'quit',
    argument: '',
    description: 'leave (same as Ctrl-D; exit and quit work, too)',
    run: async () => 'leave',
  },
  {
    name: 'exit',
    argument: '',
    description: 'leave (same as /quit)',
    run: async () => 'leave',
  },
];
