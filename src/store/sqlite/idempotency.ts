// What each idempotency key did: a stored answer, or the message of a turn. Always used inside the transaction that does it.
import type { Once, Recorded } from '../session-store.ts';
import type { Connection } from './connection.ts';
import type { Steps } from './steps.ts';

interface KnownRow {
  readonly request_hash: Buffer;
  readonly message: number | null;
  readonly answer: string | null;
}

/** What a key stands for, for a request that equals the first. */
export interface Known {
  readonly message: number | null;
  readonly answer: string | null;
}

export const idempotencyStatements = {
  // At most 100, so that no single write pays for a whole day of others.
  forget: `
    DELETE FROM idempotency WHERE (project, key) IN (
      SELECT project, key FROM idempotency WHERE created_at < @keptSince ORDER BY created_at LIMIT 100)`,
  find: `
    SELECT request_hash, message, answer FROM idempotency
    WHERE project = (SELECT id FROM projects WHERE project_id = @projectId) AND key = @key
      AND created_at >= @keptSince`,
  // Replaces only a row that is too old to be found.
  keep: `
    INSERT INTO idempotency (project, key, request_hash, message, answer, created_at)
    VALUES ((SELECT id FROM projects WHERE project_id = @projectId), @key, @requestHash, @message, @answer, @now)
    ON CONFLICT (project, key) DO UPDATE SET request_hash = excluded.request_hash, message = excluded.message,
      answer = excluded.answer, created_at = excluded.created_at`,
} as const;

export function findKnown(connection: Connection, projectId: string, once: Once): Known | 'mismatch' | null {
  connection.run(idempotencyStatements.forget, { keptSince: once.keptSince });
  const row = connection.get<KnownRow>(idempotencyStatements.find, {
    projectId,
    key: once.key,
    keptSince: once.keptSince,
  });
  if (row === undefined) return null;
  return row.request_hash.equals(once.requestHash) ? row : 'mismatch';
}

export function keepKnown(
  connection: Connection,
  projectId: string,
  once: Once,
  known: Known & { readonly now: number },
): void {
  connection.run(idempotencyStatements.keep, {
    projectId,
    key: once.key,
    requestHash: once.requestHash,
    ...known,
  });
}

/** Does the work, or answers with what it was answered with before. */
export function doOnce<T>(
  connection: Connection,
  projectId: string,
  once: Once | null,
  now: number,
  work: () => T,
): Recorded<T> {
  const recorded = once === null ? null : findRecorded<T>(connection, projectId, once);
  return recorded ?? record(connection, projectId, once, now, work());
}

/** The same for work of several steps, all in one transaction. */
export function* doOnceInSteps<T>(
  connection: Connection,
  projectId: string,
  once: Once | null,
  now: number,
  work: () => Steps<T>,
): Steps<Recorded<T>> {
  const recorded = once === null ? null : findRecorded<T>(connection, projectId, once);
  return recorded ?? record(connection, projectId, once, now, yield* work());
}

/** What a key that is known answers with; null for one that is not. */
function findRecorded<T>(connection: Connection, projectId: string, once: Once): Recorded<T> | null {
  const known = findKnown(connection, projectId, once);
  if (known === null) return null;
  if (known === 'mismatch' || known.answer === null) return { kind: 'mismatch' };
  return { kind: 'done', value: JSON.parse(known.answer) as T };
}

function record<T>(
  connection: Connection,
  projectId: string,
  once: Once | null,
  now: number,
  value: T,
): Recorded<T> {
  if (once !== null)
    keepKnown(connection, projectId, once, { message: null, answer: JSON.stringify(value), now });
  return { kind: 'done', value };
}
