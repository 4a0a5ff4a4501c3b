// Builds the path of an operation, with its session id as one segment and its query.
import { type Operation, routes } from './routes.ts';

export type Query = Readonly<Record<string, string | number | boolean | null>>;

/** The variable parts of an operation's path. */
export interface OperationTarget {
  /** Null for an operation that names no session. */
  readonly sessionId: string | null;
  /** A parameter whose value is null is left out. */
  readonly query: Query;
}

/**
 * Null if no path can name the session. An empty id, `.` and `..` would name another path, even percent-encoded, because programs that
 * normalize URLs treat both forms alike. A lone surrogate cannot be encoded.
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
