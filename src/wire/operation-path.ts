// The path of an operation: its session id as one segment, its query, behind the prefix of the base URL.
import { type Operation, routes } from './routes.ts';

export type Query = Readonly<Record<string, string | number | boolean | null>>;

export interface OperationTarget {
  /** Null for an operation that names no session. */
  readonly sessionId: string | null;
  /** What is null is left out. */
  readonly query: Query;
}

/**
 * Null where no path can name the session: an empty id and `.` and `..` would name another place (encoded, too: to whoever
 * normalizes a URL they are the same), and half of a surrogate pair is no text.
 */
export function operationPath(operation: Operation, { sessionId, query }: OperationTarget): string | null {
  const { path } = routes[operation];
  if (sessionId !== null && (/^\.{0,2}$/.test(sessionId) || !sessionId.isWellFormed())) return null;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null) parameters.set(name, String(value));
  }
  const search = parameters.size > 0 ? `?${parameters}` : '';
  return path.replace(':id', () => encodeURIComponent(sessionId ?? '')) + search;
}
