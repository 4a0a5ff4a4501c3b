// The slash commands for the last turn and for copies of the session: what was said is taken back, asked again, or gone on with elsewhere.
import { ParleyError } from '../../service/errors.ts';
import { forkSession } from '../commands/sessions/fork.ts';
import { redoTurn } from '../commands/sessions/redo.ts';
import { undoTurn } from '../commands/sessions/undo.ts';
import { noEditor } from '../ephemeral-option.ts';
import { requireMode } from '../mode-choice.ts';
import { modeChoices } from './argument-choices.ts';
import { lastTurn } from './last-messages.ts';
import { shortTitle } from './short-title.ts';
import { type Next, resume, type Scope, type SlashCommand, sessionOf } from './slash-command.ts';
import { lineFor } from './typed-line.ts';

/** The most characters shown of a message that was brought back. */
const longestShown = 60;
const resendHint = '/retry sends it again.';

export const turnCommands = {
  retry: {
    name: 'retry',
    argument: '',
    description: 'send a failed message again, with its idempotency key',
    resendHint,
    run: async (_argument, { context, conversation }) => {
      await conversation.retry(context);
      return undefined;
    },
  },
  regenerate: {
    name: 'regenerate',
    argument: '[MODE]',
    description: 'ask for another reply; the previous one is kept as an alternative',
    resendHint: '/retry asks again.',
    choices: modeChoices,
    run: async (mode, { context, conversation }) => {
      sessionOf(conversation);
      if (mode !== '') await requireMode(mode, context);
      await conversation.regenerate(mode === '' ? null : mode, context);
      return undefined;
    },
  },
  undo: {
    name: 'undo',
    argument: '',
    description: 'take back the last turn; its message returns to the prompt',
    run: async (_argument, { context, conversation }) => {
      const { session, message } = (await undoTurn(sessionOf(conversation), context)).data;
      conversation.forgetLastTurn();
      conversation.title = session.title;
      await context.say('The last turn was taken back. /redo brings it back until you send another message.');
      return { initial: lineFor(message.content) };
    },
  },
  redo: {
    name: 'redo',
    argument: '',
    description: 'bring back the turn that /undo took back',
    run: async (_argument, { context, conversation }) => {
      const { session, message } = (await redoTurn(sessionOf(conversation), context)).data;
      conversation.forgetLastTurn();
      conversation.title = session.title;
      await context.say(`Brought back: ${shortTitle(message.content, longestShown)}`);
      return undefined;
    },
  },
  fork: {
    name: 'fork',
    argument: '[TITLE]',
    description: 'continue in a copy of this session; /back returns to the original',
    run: async (title, { context, conversation }) => {
      const id = sessionOf(conversation);
      const { data } = await forkSession({ id, at: null, title: title === '' ? null : title }, context);
      conversation.enter(data.session_id, data.title);
      await context.rememberSession(data.session_id, data.mode ?? conversation.mode);
      await context.say(`This is the copy ${data.session_id}. /back returns to the original.`);
      return undefined;
    },
  },
  back: {
    name: 'back',
    argument: '',
    description: 'return to the session that this one was copied from',
    run: async (_argument, scope) => {
      const { context, conversation } = scope;
      const { backend } = await context.open();
      const { service } = backend;
      const { parent_id } = (await service.getSession(await context.call(), sessionOf(conversation))).data;
      if (parent_id === null) {
        throw new ParleyError('USAGE', 'This session is not a copy of another.', {
          hint: '/fork makes a copy.',
        });
      }
      const { data } = await service.getSession(await context.call(), parent_id);
      await resume(data, scope);
      return undefined;
    },
  },
  edit: {
    name: 'edit',
    argument: '[TEXT]',
    description:
      'edit the last message in $VISUAL or $EDITOR and send it again; or write the next one, starting with TEXT',
    resendHint,
    run: async (text, scope) => {
      const { context, conversation } = scope;
      const { backend } = await context.open();
      const { sessionId } = conversation;
      const canUndo = backend.extensions?.includes('lines') ?? false;
      const turn = text === '' && sessionId !== null && canUndo ? await lastTurn(sessionId, context) : null;
      if (sessionId !== null && turn !== null) return askOtherwise(sessionId, turn.message, scope);
      const written = await inEditor(text, scope);
      // The text from the editor is a message, even if it begins with a slash.
      return written === null ? undefined : { initial: lineFor(written) };
    },
  },
} as const satisfies Record<string, SlashCommand>;

/** Takes the last turn back once its message was edited, and sends what it is now. */
async function askOtherwise(sessionId: string, message: string, scope: Scope): Promise<Next> {
  const { context, conversation } = scope;
  const written = await inEditor(message, scope);
  if (written === null || written.trim() === '' || written === message) {
    await context.say(
      'The message was not changed, so nothing was sent. /regenerate asks for another reply.',
    );
    return undefined;
  }
  await undoTurn(sessionId, context);
  conversation.forgetLastTurn();
  await conversation.send(written, context);
  return undefined;
}

/** Null if the editor failed. */
async function inEditor(text: string, { source, context }: Scope): Promise<string | null> {
  if (context.keepsNoText) throw noEditor();
  const { writeInEditor } = await import('./external-editor.ts');
  const { signal } = context;
  return source.lend(() => writeInEditor(text, context.host.env, signal));
}
