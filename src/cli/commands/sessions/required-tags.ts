// Tags that many sessions are to get are checked once, before the first of them is changed.
import { anySession } from '../../../service/session-archive.ts';
import type { CliContext } from '../../context.ts';

/** Rejects before anything is written if the service keeps no tags, or one of these is not a tag. */
export async function requireTags(tags: readonly string[], context: CliContext): Promise<void> {
  if (tags.length === 0) return;
  const { backend } = await context.open();
  for (const tag of tags)
    await backend.archive.listSessions(await context.call(), { ...anySession, tag, limit: 1, cursor: null });
}
