// The slash commands of the REPL: the name of each and what it does. A slash command runs the code of the command line where a command
// with the same effect exists. A new slash command is a new row here.
import { ParleyError } from '../../service/errors.ts';
import { runMessages } from '../commands/sessions/messages.ts';
import { runRename } from '../commands/sessions/rename.ts';
import { runRestore } from '../commands/sessions/restore.ts';
import { runSearch } from '../commands/sessions/search.ts';
import { resolveSession } from '../session-reference.ts';
import { fileChoices, sessionChoices, withHome } from './argument-choices.ts';
import { attach } from './attachments.ts';
import { titleOf } from './conversation.ts';
import { lastReply } from './last-messages.ts';
import { lineCommands } from './line-commands.ts';
import { orderCommands } from './order-commands.ts';
import { deleteSession } from './session-deletion.ts';
import { findSession, namedSession, pickSession } from './session-search.ts';
import { settingCommands } from './setting-commands.ts';
import { required, resume, type SlashCommand, sessionOf } from './slash-command.ts';

export const slashCommands: readonly SlashCommand[] = [
  {
    name: 'help',
    argument: '',
    description: 'show this',
    run: async (_argument, { context }) => {
      const { helpText } = await import('./help-text.ts');
      await context.stdout.write(await helpText(slashCommands, context.stdout));
      return undefined;
    },
  },
  settingCommands.mode,
  settingCommands.system,
  settingCommands.param,
  settingCommands.template,
  {
    name: 'new',
    argument: '[TITLE]',
    description: 'start another session',
    run: async (title, { context, conversation }) => {
      conversation.enter(null, null);
      if (title === '') return undefined;
      const { backend } = await context.open();
      const { data } = await backend.service.createSession(await context.call(), { title });
      conversation.enter(data.session_id, data.title);
      await context.rememberSession(data.session_id, null);
      return undefined;
    },
  },
  {
    name: 'sessions',
    argument: '[WORDS]',
    description: 'pick a session by its title, and go on with it',
    run: async (words, scope) => {
      const { source, context } = scope;
      const found = await source.lend(() => pickSession(words, context));
      if (found !== null) await resume(found, scope);
      return undefined;
    },
  },
  {
    name: 'resume',
    argument: '[ID|TITLE]',
    description: 'go on with this session',
    choices: sessionChoices,
    run: async (argument, scope) => {
      const { source, context } = scope;
      const found =
        argument === ''
          ? await source.lend(() => pickSession('', context))
          : await findSession(argument, context);
      if (found !== null) await resume(found, scope);
      return undefined;
    },
  },
  {
    name: 'search',
    argument: 'WORDS',
    description: 'find sessions by what was said in them',
    run: (words, { context, source }) => {
      const query = required(words, 'words to look for: /search WORDS');
      const input = { query, limit: 10, cursor: null, utc: false, conditions: {} };
      return source.lend(() => runSearch(input, context, (id) => `/resume ${id}`));
    },
  },
  {
    name: 'title',
    argument: '[TITLE]',
    description: 'show the title of the session, or give it another',
    run: async (title, { context, conversation }) => {
      if (title !== '' && conversation.sessionId === null) {
        // The next message makes the session, with this title.
        conversation.title = title;
        return undefined;
      }
      const id = sessionOf(conversation);
      if (title === '') conversation.title = await titleOf(id, context);
      else await runRename({ id, title }, context);
      if (title !== '') conversation.title = title;
      else await context.stdout.write(`${conversation.title ?? '(no title)'}\n`);
      return undefined;
    },
  },
  {
    name: 'history',
    argument: '',
    description: 'print what was said in this session, whole',
    run: (_argument, { context, conversation, source }) => {
      const id = sessionOf(conversation);
      const input = { id, format: null, markdown: 'auto', utc: false, all: false } as const;
      return source.lend(() => runMessages(input, context));
    },
  },
  lineCommands.retry,
  lineCommands.regenerate,
  lineCommands.undo,
  lineCommands.redo,
  lineCommands.fork,
  lineCommands.back,
  orderCommands.pin,
  orderCommands.archive,
  orderCommands.tag,
  {
    name: 'delete',
    argument: '[ID|TITLE]',
    description: 'delete this session, or another (/restore brings it back)',
    choices: sessionChoices,
    run: async (argument, { context, conversation, source }) => {
      const { session_id: id, title } =
        argument === ''
          ? { session_id: sessionOf(conversation), title: conversation.title }
          : await namedSession(argument, context);
      await deleteSession(id, title, { context, conversation, source });
      return undefined;
    },
  },
  {
    name: 'restore',
    argument: '[ID|TITLE]',
    description: 'bring a deleted session back, and go on with it',
    run: async (argument, scope) => {
      const { context, conversation } = scope;
      const named = argument || conversation.deletedId || conversation.sessionId;
      if (named === null) {
        throw new ParleyError('USAGE', 'No session was deleted here.', { hint: 'Name one: /restore ID' });
      }
      const { id } = await resolveSession(named, context, 'deleted');
      if ((await runRestore({ words: [id], batch: null, last: false, verbose: false }, context)) !== 0)
        return undefined;
      const { title, mode } = await namedSession(id, context);
      conversation.enter(id, title);
      conversation.goOnIn(mode);
      return undefined;
    },
  },
  {
    name: 'copy',
    argument: '',
    description: 'put the last reply into the clipboard',
    run: async (_argument, { context, conversation }) => {
      const { sessionId } = conversation;
      const reply = conversation.reply || (sessionId === null ? '' : await lastReply(sessionId, context));
      if (reply === '') throw new ParleyError('USAGE', 'There is no reply to copy yet.');
      const { copy } = await import('./clipboard.ts');
      const { env } = context.host;
      const ways = await copy(reply, { terminal: context.stdout, env });
      if (ways.length === 0) {
        throw new ParleyError('USAGE', 'There is no way into a clipboard from here.', {
          hint: '/save FILE writes a file.',
        });
      }
      await context.say(`Copied ${[...reply].length} characters (by ${ways.join(' and ')}).`);
      return undefined;
    },
  },
  {
    name: 'save',
    argument: 'FILE',
    description: 'write what was said in this session into a new file',
    choices: (beginning, { host }) => fileChoices(beginning, host.env['HOME']),
    run: async (path, { context, conversation }) => {
      const { saveSession } = await import('./saved-session.ts');
      const file = withHome(required(path, 'the name of a file: /save FILE'), context.host.env['HOME']);
      await saveSession(sessionOf(conversation), file, context);
      return undefined;
    },
  },
  {
    name: 'file',
    argument: 'PATH',
    description: 'put a file into the next message (/file alone: none)',
    choices: (beginning, { host }) => fileChoices(beginning, host.env['HOME']),
    run: async (path, { context, conversation }) => {
      await attach(withHome(path, context.host.env['HOME']), conversation, context);
      return undefined;
    },
  },
  lineCommands.edit,
  settingCommands.status,
  {
    name: 'quit',
    argument: '',
    description: 'leave (as Ctrl-D does)',
    run: async () => 'leave',
  },
  {
    name: 'exit',
    argument: '',
    description: 'the same as /quit',
    run: async () => 'leave',
  },
];
