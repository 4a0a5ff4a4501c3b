// The state of a session at the last sync, on which both sides agreed. It shows which side has changed the session since. Values are stored as
// short hashes.
import { createHash } from 'node:crypto';
import type { Session } from '../../service/session.ts';

/** The fields that a user sets. Each is merged separately. */
export const chosenFields = ['title', 'system', 'parameters', 'pinned', 'archived', 'tags', 'user'] as const;

export type ChosenField = (typeof chosenFields)[number];

export interface Agreement {
  readonly created_at: string;
  readonly session_id: string;
  readonly deleted: boolean;
  /** The hash of the messages, as far as a listing shows them. */
  readonly line: string;
  readonly fields: Readonly<Partial<Record<ChosenField, string>>>;
  /** Earlier agreed values, the newest last. */
  readonly past: readonly string[];
  /** How often a value of `past` came back. */
  readonly reverts: number;
}

/** How many earlier values are kept. */
const maxPast = 16;
/**
 * From this many reverts on, the agreement is ignored. In a ring of three stores, an old value could circulate forever; merging by the two
 * values alone ends that.
 */
const maxReverts = 8;

export function lineOf({ updated_at, message_count, mode, parent_id, forked_at }: Session): string {
  return shortHash([updated_at, message_count, mode, parent_id, forked_at]);
}

export function fieldHash(session: Pick<Session, ChosenField>, field: ChosenField): string {
  return shortHash(session[field]);
}

/** True if the session has not changed since the agreement. */
export function matchesAgreement(session: Session, agreed: Agreement): boolean {
  return (
    agreed.line === lineOf(session) &&
    chosenFields.every((field) => agreedHash(agreed, field) === fieldHash(session, field))
  );
}

/** An agreement from before sessions had users means no user. */
export function agreedHash({ fields }: Agreement, field: ChosenField): string | undefined {
  return fields[field] ?? (field === 'user' ? shortHash(null) : undefined);
}

/** True if a listing shows no difference. */
export function lookEqual(one: Session, other: Session): boolean {
  return (
    lineOf(one) === lineOf(other) &&
    chosenFields.every((field) => fieldHash(one, field) === fieldHash(other, field))
  );
}

/** Null for an agreement with too many reverts. */
export function usableAgreement(agreed: Agreement | null): Agreement | null {
  return agreed === null || agreed.reverts >= maxReverts ? null : agreed;
}

/** The agreement on a session that is now the same on both sides. */
export function agreementOn(session: Session, deleted: boolean, before: Agreement | null): Agreement {
  const { created_at, session_id } = session;
  const fields = Object.fromEntries(chosenFields.map((field) => [field, fieldHash(session, field)]));
  const now = { created_at, session_id, deleted, line: lineOf(session), fields };
  if (before === null) return { ...now, past: [], reverts: 0 };
  const values = valuesOf(now);
  const old = valuesOf(before).filter((value) => !values.includes(value));
  const isRevert = values.some((value) => before.past.includes(value));
  const past = [...before.past.filter((value) => !values.includes(value)), ...old].slice(-maxPast);
  return { ...now, past, reverts: before.reverts + (isRevert ? 1 : 0) };
}

function valuesOf({ deleted, fields }: Pick<Agreement, 'deleted' | 'fields'>): readonly string[] {
  return [`deleted ${deleted}`, ...Object.entries(fields).map(([field, hash]) => `${field} ${hash}`)];
}

/** Equal values have equal hashes, whatever the order of their fields. */
function shortHash(value: unknown): string {
  return createHash('sha256').update(sortedJson(value)).digest('base64url').slice(0, 12);
}

export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
