// What a call on a store may carry: the key that it is made with, and the key that makes it happen at most once.

/** The SHA-256 of the key that a call is made with; null if the key was checked before. */
export type KeyHash = Uint8Array | null;

/** Makes a write happen at most once. The key is stored in the same transaction as the result of the write. */
export interface IdempotencyKey {
  readonly key: string;
  /** The SHA-256 of the operation and its request. The same key with another hash is a mismatch. */
  readonly requestHash: Uint8Array;
  /** Keys recorded before this time (ms) do not count any more. */
  readonly keptSince: number;
}

/** `done`: the value of this call, or of the earlier call that it repeats. `mismatch`: the key was used for another request. */
export type Idempotent<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'mismatch' };
