// What an idempotency key stands for: the operation and its request, as one hash.
import type { Call } from '../service/call.ts';
import type { Limits } from '../service/limits.ts';
import type { Once } from '../store/session-store.ts';
import { checkIdempotencyKey } from './text-rules.ts';

export async function onceFor(
  call: Call,
  operation: string,
  request: unknown,
  now: number,
  limits: Limits,
): Promise<Once | null> {
  checkIdempotencyKey(call);
  if (call.idempotencyKey === null) return null;
  // A message may be long, so the fast hash; only calls that carry a key load it.
  const { createHash } = await import('node:crypto');
  return {
    key: call.idempotencyKey,
    requestHash: createHash('sha256')
      .update(JSON.stringify([operation, inOneOrder(request)]))
      .digest(),
    keptSince: now - limits.idempotencyMs,
  };
}

/** The same request is the same whichever way its fields are ordered. */
function inOneOrder(request: unknown): unknown {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return request;
  return Object.entries(request).sort(([one], [other]) => (one < other ? -1 : 1));
}
