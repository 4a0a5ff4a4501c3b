// The slash commands of the REPL: the name of each and what it does. A slash command runs the code of the command line where a command
// with the same effect exists. A new slash command is a new row here.
import { ParleyError } from '../../service/errors.ts';
import { runModels } from '../commands/models.ts';
import { runGet } from '../commands/sessions/get.ts';
import { runMessages } from '../commands/sessions/messages.ts';
import { runRename } from '../commands/sessions/rename.ts';
import { runRestore } from '../commands/sessions/restore.ts';
import { runSearch } from '../commands/sessions/search.ts';
import type { CliContext } from '../context.ts';
import { requireMode } from '../mode-choice.ts';
import { tokensLine } from '../turn-notes.ts';
import { fileChoices, modeChoices, sessionChoices, withHome } from './argument-choices.ts';
import { attach } from './attachments.ts';
import type { CompletionChoice } from './completion.ts';
import type { Conversation } from './conversation.ts';
import { titleOf } from './conversation.ts';
import { lastReply } from './last-messages.ts';
import type { LineSource } from './line-source.ts';
import { showPastTurns } from './past-turns.ts';
import { deleteSession } from './session-deletion.ts';
import { findSession, pickSession } from './session-search.ts';
import { lineFor } from './typed-line.ts';

/** What a slash command receives. Ctrl-C stops its context. */
export interface Scope {
  readonly context: CliContext;
  readonly conversation: Conversation;
  readonly source: LineSource;
}

/** What happens after a command: nothing, a text that stands at the next prompt, or the end of the REPL. */
export type Next = { readonly initial: string } | 'leave' | undefined;

export interface SlashCommand {
  readonly name: string;
  readonly argument: string;
  readonly description: string;
  readonly choices?: (beginning: string, context: CliContext) => Promise<readonly CompletionChoice[]>;
  run(argument: string, scope: Scope): Promise<Next>;
}

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
  {
    name: 'mode',
    argument: '[NAME]',
    description: 'list the modes, or go on in another',
    choices: modeChoices,
    run: async (name, { context, conversation }) => {
      if (name === '') return runModels(context);
      await requireMode(name, context);
      conversation.mode = name;
      return undefined;
    },
  },
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
      if (found !== null) await resume(found.session_id, found.title, scope);
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
      if (found !== null) await resume(found.session_id, found.title, scope);
      return undefined;
    },
  },
  {
    name: 'search',
    argument: 'WORDS',
    description: 'find sessions by what was said in them',
    run: (words, { context }) =>
      runSearch(
        { query: required(words, 'words to look for: /search WORDS'), limit: 10, cursor: null },
        context,
        (id) => `/resume ${id}`,
      ),
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
    run: (_argument, { context, conversation }) =>
      runMessages({ id: sessionOf(conversation), format: 'md' }, context),
  },
  {
    name: 'retry',
    argument: '',
    description: 'send the last message again, under its key',
    run: async (_argument, { context, conversation }) => {
      await conversation.retry(context);
      return undefined;
    },
  },
  {
    name: 'delete',
    argument: '[ID|TITLE]',
    description: 'delete this session, or another (/restore brings it back)',
    choices: sessionChoices,
    run: async (argument, { context, conversation, source }) => {
      const { session_id: id, title } =
        argument === ''
          ? { session_id: sessionOf(conversation), title: conversation.title }
          : await findSession(argument, context);
      await deleteSession(id, title, { context, conversation, source });
      return undefined;
    },
  },
  {
    name: 'restore',
    argument: '[ID]',
    description: 'bring a deleted session back, and go on with it',
    run: async (argument, scope) => {
      const { context, conversation } = scope;
      const id = argument || conversation.deletedId || conversation.sessionId;
      if (id === null) {
        throw new ParleyError('USAGE', 'No session was deleted here.', { hint: 'Name one: /restore ID' });
      }
      if ((await runRestore({ words: [id], batch: null, last: false, verbose: false }, context)) !== 0)
        return undefined;
      conversation.enter(id, await titleOf(id, context));
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
  {
    name: 'edit',
    argument: '[TEXT]',
    description: 'write the next message in $VISUAL or $EDITOR',
    run: async (text, { source, context }) => {
      const { writeInEditor } = await import('./external-editor.ts');
      const { signal } = context;
      const written = await source.lend(() => writeInEditor(text, context.host.env, signal));
      // The text from the editor is a message, even if it begins with a slash.
      return written === null ? undefined : { initial: lineFor(written) };
    },
  },
  {
    name: 'status',
    argument: '',
    description: 'show mode, session, place, and the tokens of the last reply',
    run: async (_argument, { context, conversation }) => {
      const { target } = context;
      const lines = [
        `mode: ${conversation.mode ?? ''}`,
        `profile: ${target.profile ?? ''}`,
        `url: ${target.url ?? 'embedded'}`,
        ...conversation.files.map((path) => `file for the next message: ${path}`),
      ];
      await context.stdout.write(lines.map((line) => `${line}\n`).join(''));
      if (conversation.sessionId === null)
        await context.stdout.write('session_id: (the next message makes one)\n');
      else await runGet({ ids: [conversation.sessionId] }, context);
      if (conversation.usage !== null)
        await context.stdout.write(`last reply, ${tokensLine(conversation.usage)}\n`);
      return undefined;
    },
  },
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

async function resume(id: string, title: string | null, { context, conversation }: Scope): Promise<void> {
  conversation.enter(id, title);
  conversation.goOnIn(await showPastTurns(id, context));
}

function sessionOf({ sessionId }: Conversation): string {
  if (sessionId !== null) return sessionId;
  throw new ParleyError('USAGE', 'There is no session yet.', { hint: 'The first message makes one.' });
}

function required(argument: string, what: string): string {
  if (argument !== '') return argument;
  throw new ParleyError('USAGE', `This needs ${what}`, { hint: '' });
}
