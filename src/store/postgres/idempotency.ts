// The results of idempotency keys: a stored answer, or the message of a turn. The primary key of the row is the lock across all servers: if
// two calls use a key at once, the second waits for the commit of the first and then finds its result.
import { randomUUID } from 'node:crypto';
import type { IdempotencyKey, Idempotent } from '../session-store.ts';
import type { StoreRules, UsedKey } from '../store-rules.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { projectNumber } from './sessions.ts';
import { statement } from './statement.ts';

/** The row of a key, as a statement selects it. All columns are null for a new key. */
export interface KnownRow {
  readonly request_hash: Buffer | null;
  /** True for a key that is too old to count. */
  readonly is_old: boolean | null;
  readonly known_session: number | null;
  readonly known_position: number | null;
  /** Null for a key that an earlier version recorded. */
  readonly known_message: string | null;
  readonly known_reply: string | null;
  readonly answer: string | null;
}

/** The result of a key: the message of a turn, or a stored answer as JSON. `old`: the key is too old to count. */
export type Known =
  | { readonly kind: 'new' }
  | { readonly kind: 'old' }
  | { readonly kind: 'mismatch' }
  | ({ readonly kind: 'turn' } & KnownTurn)
  | { readonly kind: 'answer'; readonly answer: string };

export interface KnownTurn {
  readonly session: number;
  /** The position of the user's message. */
  readonly position: number;
  /** Null for a key that an earlier version recorded: the message is the visible one at the position. */
  readonly messageId: string | null;
  /** The reply that a regeneration made, or is to make; null for the key of a message. */
  readonly replyId: string | null;
}

/** SQL for `parley.idempotency AS known`: true for a key that is too old to count. `keptMs` is SQL: how long (ms) a key counts. */
export const isOld = (keptMs: string) =>
  `known.created_at < clock_timestamp() - ${keptMs} * interval '1 millisecond'`;

/** The columns of {@link KnownRow}, from `parley.idempotency AS known`. `keptMs` as in {@link isOld}. */
export const knownColumns = (keptMs: string) => `
  known.request_hash, ${isOld(keptMs)} AS is_old,
  known.session AS known_session, known.position AS known_position, known.message_id AS known_message,
  known.reply_id AS known_reply, known.answer`;

/** The names of {@link knownColumns}, for a row `known` that has these columns. */
export const knownFields = `known.request_hash, known.is_old, known.known_session, known.known_position, known.known_message,
    known.known_reply, known.answer`;

const claim = statement(`
  INSERT INTO parley.idempotency (project, key, request_hash, answer)
  SELECT projects.id, $2, $3, 'null' FROM parley.projects WHERE projects.project_id = $1
  ON CONFLICT (project, key) DO NOTHING RETURNING 1`);
const find = statement(`
  SELECT ${knownColumns('$3::bigint')} FROM parley.projects
  LEFT JOIN parley.idempotency AS known ON known.project = projects.id AND known.key = $2
  WHERE projects.project_id = $1`);
const modeOf = statement(`
  SELECT replied.mode FROM parley.idempotency AS known
  JOIN parley.projects ON projects.id = known.project
  CROSS JOIN LATERAL (
    SELECT mode FROM parley.messages AS message
    WHERE message.session = known.session AND message.position = known.position
      AND message.message_id = coalesce(known.message_id, message.message_id)
    UNION ALL
    SELECT mode FROM parley.hidden_messages AS message
    WHERE message.session = known.session AND message.position = known.position
      AND message.message_id = known.message_id
  ) AS replied
  WHERE projects.project_id = $1 AND known.key = $2
    AND NOT ${isOld('$3::bigint')}`);
const record = statement(`
  UPDATE parley.idempotency SET answer = $3
  WHERE project = ${projectNumber} AND key = $2`);
const forget = statement(`
  DELETE FROM parley.idempotency AS known
  WHERE known.project = ${projectNumber} AND known.key = $2
    AND ${isOld('$3::bigint')}`);
const forgetOwn = statement(`DELETE FROM parley.idempotency WHERE project = ${projectNumber} AND key = $2`);
const sweptAtOnce = 1000;
// SKIP LOCKED passes over the rows that another server deletes at this moment.
const sweep = statement(`
  DELETE FROM parley.idempotency WHERE (project, key) IN (
    SELECT project, key FROM parley.idempotency AS known
    WHERE ${isOld('$1::bigint')} ORDER BY created_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)
  RETURNING 1`);

export function knownOf(
  row: KnownRow | undefined,
  rules: StoreRules,
  idempotencyKey: IdempotencyKey | null,
  isTurn: boolean,
): Known {
  if (idempotencyKey === null || row === undefined || row.request_hash === null) return { kind: 'new' };
  if (row.is_old) return { kind: 'old' };
  const used: UsedKey = { requestHash: row.request_hash, isTurn: row.known_session !== null };
  if (rules.meaningOfKey(used, { requestHash: idempotencyKey.requestHash, isTurn }) === 'mismatch')
    return { kind: 'mismatch' };
  const { known_session: session, known_position: position, answer } = row;
  if (session !== null && position !== null) {
    return { kind: 'turn', session, position, messageId: row.known_message, replyId: row.known_reply };
  }
  return { kind: 'answer', answer: answer ?? 'null' };
}

/** The result of the key of a turn. */
export async function findTurnKey(
  { connections, rules, keptMs }: IdempotencyTools,
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
): Promise<Exclude<Known, { kind: 'old' }>> {
  if (idempotencyKey === null) return { kind: 'new' };
  const [row] = await connections.ask<KnownRow>(find, [
    projectId,
    idempotencyKey.key,
    keptMs(idempotencyKey),
  ]);
  const known = knownOf(row, rules, idempotencyKey, true);
  if (known.kind !== 'old') return known;
  await forgetOld(connections.ask, projectId, idempotencyKey, keptMs(idempotencyKey));
  return { kind: 'new' };
}

/** The mode of the message whose turn the key began. */
export async function modeOfTurn(
  { connections, keptMs }: IdempotencyTools,
  projectId: string,
  idempotencyKey: Omit<IdempotencyKey, 'requestHash'>,
): Promise<string | null> {
  const values = [projectId, idempotencyKey.key, keptMs(idempotencyKey)];
  const [row] = await connections.ask<{ readonly mode: string }>(modeOf, values);
  return row?.mode ?? null;
}

/** Deletes a key that is too old to count, so that it can be used again. */
export async function forgetOld(
  ask: Ask,
  projectId: string,
  { key }: IdempotencyKey,
  keptMs: number,
): Promise<void> {
  await ask(forget, [projectId, key, keptMs]);
}

export async function sweepOld(ask: Ask, keptMs: number): Promise<void> {
  while ((await ask(sweep, [keptMs])).length === sweptAtOnce);
}

export interface IdempotencyTools {
  readonly connections: ConnectionPool;
  readonly rules: StoreRules;
  /** How long (ms) keys count. */
  readonly keptMs: (idempotencyKey: Pick<IdempotencyKey, 'keptSince'>) => number;
}

/**
 * Does the work, or returns the stored answer of the first time. Only the value of a result of the kind `done` is stored; if the work has
 * any other result, what it wrote is rolled back.
 */
export async function doOnceIfDone<Result extends { readonly kind: string }>(
  tools: IdempotencyTools,
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result | Idempotent<Done<Result>>> {
  try {
    return await doOnce<Done<Result>>(tools, projectId, idempotencyKey, async (ask) => {
      const result = await work(ask);
      if (result.kind !== 'done') throw new NotDone(result);
      return (result as Result & { readonly value: Done<Result> }).value;
    });
  } catch (error) {
    if (error instanceof NotDone) return error.result as Result;
    throw error;
  }
}

/** The value of the result `done`. */
type Done<Result> = Result extends { readonly kind: 'done'; readonly value: infer Value } ? Value : never;

/** Takes a transaction back. */
class NotDone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('The work was not done.');
    this.result = result;
  }
}

/** Does the work, or returns the stored answer of the first time. */
export async function doOnce<T>(
  { connections, rules, keptMs }: IdempotencyTools,
  projectId: string,
  idempotencyKey: IdempotencyKey | null,
  work: (ask: Ask) => Promise<T>,
): Promise<Idempotent<T>> {
  if (idempotencyKey === null) return { kind: 'done', value: await work(connections.ask) };
  const ofKey = [projectId, idempotencyKey.key];
  return connections.transaction(async (ask) => {
    for (;;) {
      const claimed = await ask(claim, [...ofKey, Buffer.from(idempotencyKey.requestHash)]);
      if (claimed.length > 0) {
        const value = await work(ask);
        await ask(record, [...ofKey, JSON.stringify(value)]);
        return { kind: 'done', value };
      }
      const [row] = await ask<KnownRow>(find, [...ofKey, keptMs(idempotencyKey)]);
      // The project is unknown, so there is no place for the key.
      if (row === undefined) return { kind: 'done', value: await work(ask) };
      const known = knownOf(row, rules, idempotencyKey, false);
      if (known.kind === 'mismatch' || known.kind === 'turn') return { kind: 'mismatch' };
      if (known.kind === 'answer') return { kind: 'done', value: JSON.parse(known.answer) as T };
      await forgetOld(ask, projectId, idempotencyKey, keptMs(idempotencyKey));
    }
  });
}

/**
 * Does the work of a call that has no idempotency key. If the answer to COMMIT is lost, the call is sent again with the same key of its own
 * and finds the stored answer. Nobody else asks for that, so it is deleted; one that stays is swept when it is old.
 */
export async function doWithOwnKey<T>(
  tools: IdempotencyTools,
  projectId: string,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const key = { key: `own ${randomUUID()}`, requestHash: new Uint8Array(), keptSince: 0 };
  const once = await doOnce(tools, projectId, key, work);
  await tools.connections.ask(forgetOwn, [projectId, key.key]).catch(() => {});
  if (once.kind === 'mismatch') throw new Error('The key of a call is known already.');
  return once.value;
}
