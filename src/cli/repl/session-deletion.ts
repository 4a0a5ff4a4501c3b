// Runs /delete: hides a session. It asks first if the server is not known to restore deleted sessions.
import { runDelete } from '../commands/sessions/delete.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../terminal/prompt.ts';
import type { Conversation } from './conversation.ts';
import type { LineSource } from './line-source.ts';
import { shortTitle } from './short-title.ts';

interface Place {
  readonly context: CliContext;
  readonly conversation: Conversation;
  readonly source: LineSource;
}

const maxTitleCharacters = 60;

export async function deleteSession(
  id: string,
  title: string | null,
  { context, conversation, source }: Place,
): Promise<void> {
  const { backend } = await context.open();
  const restores = backend.extensions?.includes('archive') ?? false;
  if (!restores && !(await source.lend(() => isSure(id, title, context)))) {
    await context.say('Nothing was deleted.');
    return;
  }
  const options = {
    kind: 'delete' as const,
    tags: null,
    filter: null,
    resume: null,
    yes: true,
    dryRun: false,
    ignoreMissing: false,
  };
  if ((await runDelete({ words: [id], ...options, max: 1, concurrency: 1, verbose: false }, context)) !== 0)
    return;
  conversation.deletedId = id;
  const isAnother = id !== conversation.sessionId && title !== null;
  const deleted = isAnother ? JSON.stringify(shortTitle(title, maxTitleCharacters)) : 'it';
  if (id === conversation.sessionId) conversation.enter(null, null);
  if (restores) await context.say(`/restore brings ${deleted} back.`);
}

async function isSure(id: string, title: string | null, { prompting }: CliContext): Promise<boolean> {
  const what = title === null ? id : JSON.stringify(shortTitle(title, maxTitleCharacters));
  const question = `This server may not be able to restore sessions. Delete ${what} permanently?`;
  return await confirm(question, 'parley sessions delete', prompting);
}
