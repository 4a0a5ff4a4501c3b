// Makes the hash of an operation and its request, which an idempotency key is stored with. The same key with another hash is a mismatch.
import type { Hash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Call } from '../service/call.ts';
import type { Message } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import type { IdempotencyKey } from '../store/session-store.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import type { LocalOptions } from './local-options.ts';
import { stableJson } from './stable-json.ts';
import { checkIdempotencyKey } from './text-rules.ts';

/** Up to this length, in UTF-16 units, a text is hashed in JavaScript. */
const shortCharacters = 4096;
/** About how many characters of JSON are hashed at a time. */
const hashedAtOnce = 32 * 1024;
/** About how many characters of JSON a message has without its content. */
const frameCharacters = 200;

type Rules = Pick<LocalOptions, 'now' | 'limits'>;

/** The key of a call; null if the call has none. Equal requests get equal hashes, whatever the order of their fields. */
export async function idempotencyKeyFor(
  { now, limits }: Rules,
  call: Call,
  operation: string,
  request: unknown,
): Promise<IdempotencyKey | null> {
  checkIdempotencyKey(call);
  if (call.idempotencyKey === null) return null;
  return {
    key: call.idempotencyKey,
    requestHash: await sha256Of(stableJson([operation, request])),
    keptSince: now() - limits.idempotencyMs,
  };
}

/** The key of an import. Its hash is made in parts, with pauses for other work, because a record may be long. Field order counts. */
export async function importKeyFor(
  { now, limits }: Rules,
  call: Call,
  { session, messages, hidden_messages = [], replaces }: SessionRecord,
): Promise<IdempotencyKey | null> {
  checkIdempotencyKey(call);
  if (call.idempotencyKey === null) return null;
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(`["importSession",[${JSON.stringify(session)},[`);
  await hashEach(hash, messages);
  // A record without hidden messages has the hash that earlier versions gave it.
  if (hidden_messages.length > 0) await hashEach(hash.update('],['), hidden_messages);
  if (replaces !== undefined) hash.update(`],${JSON.stringify(replaces)},[`);
  const requestHash = hash.update(']]]').digest();
  return { key: call.idempotencyKey, requestHash, keptSince: now() - limits.idempotencyMs };
}

/** Hashes the JSON of the messages, with commas between them. Many short ones at a time take less memory than one at a time. */
async function hashEach(hash: Hash, messages: readonly Message[]): Promise<void> {
  let from = 0;
  let characters = 0;
  for (let at = 0; at < messages.length; at += 1) {
    characters += (messages[at]?.content.length ?? 0) + frameCharacters;
    if (characters < hashedAtOnce && at < messages.length - 1) continue;
    if (from > 0) {
      await yieldToEventLoop();
      hash.update(',');
    }
    hash.update(JSON.stringify(messages.slice(from, at + 1)).slice(1, -1));
    from = at + 1;
    characters = 0;
  }
}

/** SHA-256. A short text is hashed in JavaScript, because loading `node:crypto` takes longer than hashing it. */
async function sha256Of(text: string): Promise<Uint8Array> {
  if (text.length <= shortCharacters) return sha256(Buffer.from(text));
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(text).digest();
}
