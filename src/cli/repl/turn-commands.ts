// The slash commands that repeat, undo, redo or edit the last turn, and those that continue in a copy of the session.
import { offers } from '../../service/backend.ts';
import { ParleyError } from '../../service/errors.ts';
import { forkSession } from '../commands/sessions/fork.ts';
import { redoTurn } from '../commands/sessions/redo.ts';
import { undoTurn } from '../commands/sessions/undo.ts';
import { noEditor } from '../ephemeral-option.ts';
import { requireMode } from '../mode-choice.ts';
import { fetchSession } from '../session-reference.ts';
import { modeChoices } from './argument-choices.ts';
import { lastTurn } from './last-messages.ts';
import { noResendHints, reportReplFailure } from './repl-failure.ts';
import { shortTitle } from './short-title.ts';
import { type LineResult, requireSessionId, resume, type Scope, type SlashCommand } from './slash-command.ts';
import { lineFor } from './typed-line.ts';

/** The number of characters of a message that /redo shows. */
const maxShownCharacters = 60;
const resendHint = '/retry sends it again.';
const undone = 'The last turn was undone. /redo restores it until you send another message.';

export const turnCommands = {
  retry: {
    name: 'retry',
    argument: '',
    description: 'send a failed message again, with its idempotency key',
    resendHint,
    run: async (_argument, { context, conversation }) => {
      await conversation.retry(context);
    },
  },
  regenerate: {
    name: 'regenerate',
    argument: '[MODE]',
    description: 'ask for another reply; the previous one is kept as an alternative',
    resendHint: '/retry asks again.',
    choices: modeChoices,
    run: async (mode, { context, conversation }) => {
      requireSessionId(conversation);
      if (mode !== '') await requireMode(mode, context);
      await conversation.regenerate(mode === '' ? null : mode, context);
    },
  },
  undo: {
    name: 'undo',
    argument: '',
    description: 'undo the last turn; its message returns to the prompt',
    run: async (_argument, { context, conversation, source }) => {
      const { session, message } = (await undoTurn(requireSessionId(conversation), context)).data;
      conversation.forgetLastTurn();
      conversation.title = session.title;
      await context.say(`${undone} ${source.clearLineHint}`.trim());
      return { initial: lineFor(message.content) };
    },
  },
  redo: {
    name: 'redo',
    argument: '',
    description: 'restore the turn that /undo has undone',
    run: async (_argument, { context, conversation }) => {
      const { session, message } = (await redoTurn(requireSessionId(conversation), context)).data;
      conversation.forgetLastTurn();
      conversation.title = session.title;
      await context.say(`Restored: ${shortTitle(message.content, maxShownCharacters)}`);
    },
  },
  fork: {
    name: 'fork',
    argument: '[TITLE]',
    description: 'continue in a copy of this session; /back returns to the original',
    run: async (title, { context, conversation }) => {
      const id = requireSessionId(conversation);
      const { data } = await forkSession(id, title === '' ? {} : { title }, context);
      conversation.enter(data.session_id, data.title);
      await context.rememberSession(data.session_id, data.mode ?? conversation.mode);
      await context.say(`This is the copy ${data.session_id}. /back returns to the original.`);
    },
  },
  back: {
    name: 'back',
    argument: '',
    description: 'return to the session that this one was copied from',
    run: async (_argument, scope) => {
      const { context, conversation } = scope;
      const { parent_id } = await fetchSession(requireSessionId(conversation), context);
      if (parent_id === null) {
        throw new ParleyError('USAGE', 'This session is not a copy of another.', {
          hint: '/fork makes a copy.',
        });
      }
      await resume(await fetchSession(parent_id, context), scope);
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
      const canUndo = offers(backend, 'lines');
      const turn = text === '' && sessionId !== null && canUndo ? await lastTurn(sessionId, context) : null;
      if (sessionId !== null && turn !== null) return editLastMessage(sessionId, turn.message, scope);
      const message = await writeMessage(text, scope);
      // The text from the editor is a message, even if it begins with a slash.
      return message === null ? undefined : { initial: lineFor(message) };
    },
  },
} as const satisfies Record<string, SlashCommand>;

/** Opens the last message in the editor. If it was changed, the last turn is undone and the new message is sent. */
async function editLastMessage(sessionId: string, message: string, scope: Scope): Promise<LineResult> {
  const { context, conversation, source } = scope;
  const edited = await writeMessage(message, scope);
  if (edited === null || edited.trim() === '' || edited === message) {
    await context.say(
      'The message was not changed, so nothing was sent. /regenerate asks for another reply.',
    );
    return undefined;
  }
  let isUndone = false;
  try {
    if ((await lastTurn(sessionId, context))?.message !== message) throw changedElsewhere();
    await undoTurn(sessionId, context);
    isUndone = true;
    conversation.forgetLastTurn();
    await conversation.send(edited, context);
    return undefined;
  } catch (error) {
    if (conversation.lastAttempt?.isStored && isUndone) throw error;
    // The text is stored nowhere, so it returns to the prompt, also after Ctrl-C.
    const { clearLineHint: clearLine } = source;
    const hints = { ...noResendHints, resend: 'Enter sends it again.', clearLine };
    if (!context.signal.aborted) await reportReplFailure(error, context, hints);
    if (isUndone) await context.say(undone);
    return { initial: lineFor(edited) };
  }
}

/** Only the turn of the edited message may be undone. */
function changedElsewhere(): ParleyError {
  return new ParleyError('USAGE', 'Another terminal changed the session while you edited its last message.', {
    hint: 'Nothing was undone. Enter sends the text as a new message.',
  });
}

/** Returns the text from the editor. Null if the editor failed. */
async function writeMessage(text: string, { source, context }: Scope): Promise<string | null> {
  if (context.keepsNoText) throw noEditor();
  const { writeInEditor } = await import('./external-editor.ts');
  const { signal } = context;
  return source.lend(() => writeInEditor(text, context.host.env, signal));
}
