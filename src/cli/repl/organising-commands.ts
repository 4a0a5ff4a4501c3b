// The slash commands that organise sessions: they pin, archive and tag the current session, and delete any.
import { offers } from '../../service/backend.ts';
import { hasCode, ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import type { BatchAction } from '../session-batch/batch-kind.ts';
import { fetchSession, withSessionName } from '../session-reference.ts';
import { confirm } from '../terminal/prompt.ts';
import { sessionChoices } from './argument-choices.ts';
import { namedSession } from './session-search.ts';
import { shortTitle } from './short-title.ts';
import { requireSessionId, type Scope, type SlashCommand } from './slash-command.ts';

export const organisingCommands = {
  pin: {
    name: 'pin',
    argument: '[off]',
    description: 'pin this session (/pin off unpins it)',
    run: async (argument, scope) => {
      await runOnSession({ kind: isOff(argument, 'pin') ? 'unpin' : 'pin', tags: null }, scope);
    },
  },
  archive: {
    name: 'archive',
    argument: '[off]',
    description: 'hide this session from lists (/archive off shows it again)',
    run: async (argument, scope) => {
      await runOnSession({ kind: isOff(argument, 'archive') ? 'unarchive' : 'archive', tags: null }, scope);
    },
  },
  tag: {
    name: 'tag',
    argument: '[+TAG] [-TAG]',
    description: 'show the tags of this session, or add and remove some',
    run: async (argument, scope) => {
      const words = argument.split(/\s+/).filter(Boolean);
      if (words.length > 0) await changeTags(words, scope);
      await showTags(scope);
    },
  },
  delete: {
    name: 'delete',
    argument: '[ID|TITLE]',
    description: 'delete this session, or another (/restore brings it back)',
    choices: sessionChoices,
    run: async (argument, { context, conversation, source }) => {
      const { session_id: id, title } =
        argument === ''
          ? { session_id: requireSessionId(conversation), title: conversation.title }
          : await namedSession(argument, context);
      await deleteSession(id, title, { context, conversation, source });
    },
  },
} as const satisfies Readonly<Record<string, SlashCommand>>;

/** The number of characters of a title that are shown. */
const maxTitleCharacters = 60;
const isRemoval = (word: string) => word.startsWith('-');

function isOff(argument: string, name: string): boolean {
  if (argument === '' || argument === 'off') return argument === 'off';
  throw new ParleyError('USAGE', `/${name} takes no argument except off.`, {
    hint: 'It applies to the current session. /resume ID switches to another.',
  });
}

async function runOnSession(action: BatchAction, { context, conversation }: Scope): Promise<void> {
  await runSessionAction(requireSessionId(conversation), action, context);
}

/** Changes the tags without the result line of `parley sessions tag`, which is the same for added and removed tags. */
async function changeTags(words: readonly string[], { context, conversation }: Scope): Promise<void> {
  const id = requireSessionId(conversation);
  const add = words.filter((word) => !isRemoval(word)).map((word) => word.replace(/^\+/, ''));
  const remove = words.filter(isRemoval).map((word) => word.slice(1));
  const { ordering } = await import('../commands/sessions/operations.ts');
  const { backend } = await context.open();
  try {
    await ordering('tag', { add, remove }).runOne(backend)(await context.call(), id);
  } catch (error) {
    throw hasCode(error, 'SESSION_NOT_FOUND') ? withSessionName(error, id, context, 'active') : error;
  }
}

async function showTags({ context, conversation }: Scope): Promise<void> {
  const { tags } = await fetchSession(requireSessionId(conversation), context);
  await context.stdout.write(`${tags.join(' ') || '(no tags)'}\n`);
}

/** Hides a session. Asks first if the server is not known to restore deleted sessions. */
async function deleteSession(
  id: string,
  title: string | null,
  { context, conversation, source }: Scope,
): Promise<void> {
  const { backend } = await context.open();
  const restores = offers(backend, 'archive');
  if (!restores && !(await source.lend(() => isSure(id, title, context)))) {
    return context.say('Nothing was deleted.');
  }
  await runSessionAction(id, { kind: 'delete', tags: null }, context);
  conversation.deletedId = id;
  const isAnother = id !== conversation.sessionId && title !== null;
  const deleted = isAnother ? JSON.stringify(shortTitle(title, maxTitleCharacters)) : 'it';
  if (id === conversation.sessionId) conversation.enter(null, null);
  if (restores) await context.say(`/restore brings ${deleted} back.`);
}

async function isSure(id: string, title: string | null, { prompting }: CliContext): Promise<boolean> {
  const name = title === null ? id : JSON.stringify(shortTitle(title, maxTitleCharacters));
  const question = `This server may not be able to restore sessions. Delete ${name} permanently?`;
  return await confirm(question, 'parley sessions delete', prompting);
}

/** Runs an action of `parley sessions` without asking for confirmation. Rejects if there is no such session. */
async function runSessionAction(id: string, action: BatchAction, context: CliContext): Promise<void> {
  const { runAction } = await import('../commands/sessions/action-run.ts');
  const selection = { words: [id], filter: null, max: 1, concurrency: 1 };
  await runAction({ ...action, ...selection, yes: true, throwsMissing: true }, context);
}
