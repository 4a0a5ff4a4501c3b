// The results of idempotency keys: a stored answer, or the message of a turn, visible or hidden. All functions run inside the transaction
// of the write itself.
import type { IdempotencyKey, Idempotent } from '../session-store.ts';
import type { StoreRules } from '../store-rules.ts';
import { ageTime, type Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import { inProject, projectNumber } from './sessions.ts';

/** The result of a key: the row of a turn's message, visible or hidden, or a stored answer as JSON. */
export interface Known {
  readonly message: number | null;
  readonly hidden_message: number | null;
  /** The id of the reply that a regeneration makes; null for a chat. */
  readonly reply_id: string | null;
  readonly answer: string | null;
}

type KnownRow = Known & { readonly request_hash: Uint8Array };

type NewResult = { readonly message: number; readonly replyId?: string } | { readonly answer: string };

/** What the transaction of a write needs. `clock` is that of leases (lease-clock.ts). */
export interface WriteTools extends Clocks {
  readonly connection: Connection;
  readonly rules: StoreRules;
  /** The turns of this process whose ends could not be stored ({@link turnName}). Nothing runs in them. */
  readonly failedEnds: ReadonlySet<string>;
}

/** The tools of a call of several transactions, each of which reads the clocks, because it may have waited for a lock. */
export interface StepTools extends Omit<WriteTools, keyof Clocks> {
  readonly clocks: () => Clocks;
}

/** The tools of the transaction that runs now. */
export function toolsNow({ connection, rules, failedEnds, clocks }: StepTools): WriteTools {
  return { connection, rules, failedEnds, ...clocks() };
}

export const idempotencyStatements = {
  hasOld: 'SELECT 1 FROM idempotency WHERE created_at < @keptSince LIMIT 1',
  // At most 100 rows, so that one write does not remove the keys of a whole day.
  forget: `
    DELETE FROM idempotency WHERE (project, key) IN (
      SELECT project, key FROM idempotency WHERE created_at < @keptSince ORDER BY created_at LIMIT 100)`,
  find: `
    SELECT request_hash, message, hidden_message, reply_id, answer FROM idempotency
    WHERE ${inProject} AND key = @key
      AND created_at >= @keptSince`,
  modeOfTurn: `
    SELECT coalesce(message.mode, hidden.mode) AS mode FROM idempotency AS known
    LEFT JOIN messages AS message ON message.id = known.message
    LEFT JOIN hidden_messages AS hidden ON hidden.id = known.hidden_message
    WHERE known.${inProject} AND known.key = @key
      AND known.created_at >= @keptSince`,
  // Replaces a row only if it is too old to count.
  keep: `
    INSERT INTO idempotency (project, key, request_hash, message, reply_id, answer, created_at)
    VALUES (${projectNumber}, @key, @requestHash, @message, @replyId, @answer,
      @now)
    ON CONFLICT (project, key) DO UPDATE SET request_hash = excluded.request_hash, message = excluded.message,
      hidden_message = NULL, reply_id = excluded.reply_id, answer = excluded.answer, created_at = excluded.created_at`,
  // Another try of a regeneration makes another reply.
  tryAgain: `
    UPDATE idempotency SET reply_id = @replyId
    WHERE ${inProject} AND key = @key`,
} as const;

/** The result of a key; null for a key that is new or too old. Also deletes up to 100 keys that are too old. */
export function findKnown(
  tools: WriteTools,
  projectId: string,
  { key, requestHash, keptSince: since }: IdempotencyKey,
  isTurn: boolean,
): Known | 'mismatch' | null {
  const { connection, rules } = tools;
  const keptSince = agedSince(tools, since);
  // SQLite takes a tenth of a millisecond to prepare and begin the deletion, which is part of each start.
  if (connection.get(idempotencyStatements.hasOld, { keptSince }) !== undefined)
    connection.run(idempotencyStatements.forget, { keptSince });
  const row = connection.get<KnownRow>(idempotencyStatements.find, { projectId, key, keptSince }) ?? null;
  const used = row && { requestHash: row.request_hash, isTurn: row.answer === null };
  return rules.meaningOfKey(used, { requestHash, isTurn }) === 'mismatch' ? 'mismatch' : row;
}

/** The mode of the message whose turn the key began. */
export function modeOfTurn(
  tools: WriteTools,
  projectId: string,
  { key, keptSince }: Omit<IdempotencyKey, 'requestHash'>,
): string | null {
  const place = { projectId, key, keptSince: agedSince(tools, keptSince) };
  const row = tools.connection.get<{ readonly mode: string | null }>(idempotencyStatements.modeOfTurn, place);
  return row?.mode ?? null;
}

export function keepKnown(
  tools: WriteTools,
  projectId: string,
  idempotencyKey: IdempotencyKey,
  result: NewResult,
): void {
  tools.connection.run(idempotencyStatements.keep, {
    projectId,
    key: idempotencyKey.key,
    requestHash: idempotencyKey.requestHash,
    ...{ message: null, replyId: null, answer: null, ...result },
    now: ageTime(tools.connection, tools),
  });
}

/** The time of `keptSince` on the clock that measures the age of keys. */
export function agedSince(
  { connection, ...clocks }: Clocks & { readonly connection: Connection },
  keptSince: number,
): number {
  return ageTime(connection, clocks) - (clocks.now - keptSince);
}

/** Does the work, or returns the stored answer of the first time. */
export function doOnce<T>(
  tools: WriteTools,
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
  work: () => T,
): Idempotent<T> {
  const recorded = idempotencyKey === null ? null : findRecorded<T>(tools, projectId, idempotencyKey);
  return recorded ?? keepAnswer(tools, projectId, idempotencyKey, work());
}

/** The stored answer of a known key; null for an unknown key. */
export function findRecorded<T>(
  tools: WriteTools,
  projectId: string,
  idempotencyKey: IdempotencyKey,
): Idempotent<T> | null {
  const known = findKnown(tools, projectId, idempotencyKey, false);
  if (known === null) return null;
  if (known === 'mismatch') return { kind: 'mismatch' };
  return { kind: 'done', value: JSON.parse(known.answer ?? 'null') as T };
}

/** Stores the answer of a key, if there is one. */
export function keepAnswer<T>(
  tools: WriteTools,
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
  value: T,
): Idempotent<T> {
  if (idempotencyKey !== null) keepKnown(tools, projectId, idempotencyKey, { answer: JSON.stringify(value) });
  return { kind: 'done', value };
}
