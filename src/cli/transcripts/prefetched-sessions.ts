// Reads the sessions of an export a few at a time, and yields them in order. PostgreSQL answers concurrent calls together.
import type { SessionRecord } from '../../service/session-archive.ts';
import type { ServiceAccess } from '../context.ts';
import { readSession } from './session-reading.ts';

const maxAtOnce = 8;
/** The most characters, as JSON, of a session that is prefetched. Several longer ones would need too much memory. */
const maxPrefetchedCharacters = 256 * 1024;

interface NextSession {
  readonly id: string;
  /** Rejects like {@link readSession}. */
  read(): Promise<SessionRecord>;
}

/** A session that is too long or cannot be prefetched is read again when it is needed. */
export async function* prefetchedSessions(
  ids: Iterable<string>,
  context: ServiceAccess,
): AsyncGenerator<NextSession, void> {
  const { backend } = await context.open();
  // Servers limit the request rate of their clients.
  const isServer = backend.administration === null;
  const queue: NextSession[] = [];
  for (const id of ids) {
    const ahead = isServer ? null : readSession(id, context, maxPrefetchedCharacters).catch(() => null);
    queue.push({ id, read: async () => (await ahead) ?? readSession(id, context) });
    const next = !isServer && queue.length < maxAtOnce ? undefined : queue.shift();
    if (next !== undefined) yield next;
  }
  yield* queue;
}
