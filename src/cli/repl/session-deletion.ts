// Runs /delete: hides a session. It asks first if the server is not known to restore deleted sessions.
import type { CliContext } from '../context.ts';
import { confirm } from '../terminal/prompt.ts';
import { runSessionAction } from './session-action.ts';
import { shortTitle } from './short-title.ts';
import type { Scope } from './slash-command.ts';

const maxTitleCharacters = 60;

export async function deleteSession(
  id: string,
  title: string | null,
  { context, conversation, source }: Scope,
): Promise<void> {
  const { backend } = await context.open();
  const restores = backend.extensions?.includes('archive') ?? false;
  if (!restores && !(await source.lend(() => isSure(id, title, context)))) {
    await context.say('Nothing was deleted.');
    return;
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
