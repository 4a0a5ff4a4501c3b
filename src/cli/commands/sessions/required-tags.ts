// Checks the tags of a batch once, before the first session is changed.
import { anySession } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';

/** Rejects if the service has no tags or one of these is invalid. */
export async function requireTags(tags: readonly string[], context: CliContext): Promise<void> {
  if (tags.length === 0) return;
  const { backend } = await context.open();
  for (const tag of tags)
    await backend.archive.listSessions(await context.call(), { ...anySession, tag, limit: 1, cursor: null });
}
