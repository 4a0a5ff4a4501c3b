// The sessions of a project in a store, each as a hash over all that is kept of it: two stores hold the same where these are the same.
import { createHash } from 'node:crypto';
import type { KeptMessage, PartPlace, SessionHead, StoreRows } from '../store/store-rows.ts';

export interface SessionDigest {
  readonly session_id: string;
  readonly messages: number;
  /** Hex. */
  readonly hash: string;
}

/** In the order of their ids, from a place on. */
export async function* sessionDigests(
  rows: Pick<StoreRows, 'readParts'>,
  projectId: string,
  signal: AbortSignal,
): AsyncGenerator<SessionDigest> {
  let place: PartPlace | null = null;
  let open: {
    readonly head: string;
    readonly session_id: string;
    hash: ReturnType<typeof createHash>;
  } | null = null;
  let messages = 0;
  for (;;) {
    signal.throwIfAborted();
    const page = await rows.readParts(projectId, place);
    for (const part of page.parts) {
      const head = headText(part.session);
      const { session_id } = part.session;
      // A session whose row changed between two of its parts is told by both.
      if (open === null || open.session_id !== session_id) {
        if (open !== null) yield { session_id: open.session_id, messages, hash: open.hash.digest('hex') };
        open = { head, session_id, hash: createHash('sha256').update(head) };
        messages = 0;
      } else if (head !== open.head) open.hash.update(head);
      messages += part.messages.length;
      open.hash.update(part.messages.map(messageText).join('\n'));
    }
    if (page.next === null) break;
    place = page.next;
  }
  if (open !== null) yield { session_id: open.session_id, messages, hash: open.hash.digest('hex') };
}

export interface DigestPair {
  readonly session_id: string;
  /** Null where that store has no such session. */
  readonly original: SessionDigest | null;
  readonly copy: SessionDigest | null;
  /** Whether the copy has a session with this id or a later one. */
  readonly isCopyOver: boolean;
}

/** The sessions of both, each with its counterpart. Ids are ASCII: they compare as their bytes do. */
export async function* pairs(
  originals: AsyncGenerator<SessionDigest>,
  copies: AsyncGenerator<SessionDigest>,
): AsyncGenerator<DigestPair> {
  const next = async (from: AsyncGenerator<SessionDigest>) =>
    (await from.next()).value as SessionDigest | undefined;
  let [original, copy] = await Promise.all([next(originals), next(copies)]);
  while (original !== undefined || copy !== undefined) {
    const isCopyOver = copy === undefined;
    const session_id = least(original?.session_id, copy?.session_id);
    const [one, other] = [original?.session_id === session_id, copy?.session_id === session_id];
    yield {
      ...{ session_id, isCopyOver },
      original: (one && original) || null,
      copy: (other && copy) || null,
    };
    [original, copy] = await Promise.all([one ? next(originals) : original, other ? next(copies) : copy]);
  }
}

function least(one: string | undefined, other: string | undefined): string {
  if (one === undefined || other === undefined) return one ?? other ?? '';
  return one < other ? one : other;
}

function headText(one: SessionHead): string {
  return JSON.stringify([
    ...[one.session_id, one.title, one.created_at, one.updated_at, one.message_count, one.deleted_at],
    ...[one.turn_position, one.turn_epoch],
  ]);
}

function messageText(one: KeptMessage): string {
  return JSON.stringify([
    ...[one.position, one.message_id, one.role, one.content, one.mode, one.finish_reason],
    ...[one.input_tokens, one.output_tokens, one.first_token_ms, one.error_code, one.created_at],
  ]);
}
