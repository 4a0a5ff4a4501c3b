// Reads the sessions of an export a few at a time, and gives them out in their order. PostgreSQL answers several calls of one moment at once.
import type { SessionRecord } from '../../service/session-archive.ts';
import type { ServiceAccess } from '../context.ts';
import { readSession } from './session-reading.ts';

const mostAtOnce = 8;
/** The most characters, as JSON, of a session that is read before its turn. Several longer ones would take much memory together. */
const longestAhead = 256 * 1024;

interface NextSession {
  readonly id: string;
  /** Rejects as {@link readSession} does. */
  read(): Promise<SessionRecord>;
}

/** A session that is too long, or that cannot be read, is read once more in its turn. */
export async function* sessionsAhead(
  ids: Iterable<string>,
  context: ServiceAccess,
): AsyncGenerator<NextSession, void> {
  const { backend } = await context.open();
  // A server limits the rate of its clients.
  const isServer = backend.administration === null;
  const begun: NextSession[] = [];
  for (const id of ids) {
    const ahead = isServer ? null : readSession(id, context, longestAhead).catch(() => null);
    begun.push({ id, read: async () => (await ahead) ?? readSession(id, context) });
    const next = !isServer && begun.length < mostAtOnce ? undefined : begun.shift();
    if (next !== undefined) yield next;
  }
  yield* begun;
}
