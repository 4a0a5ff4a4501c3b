// Checks the key of each call: that the store has it, that it is not expired, and that its scope allows the operation.
import type { Call } from '../service/call.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import { hasCode } from '../service/errors.ts';
import type { KeyScope } from '../service/key-limits.ts';
import { refusedKey } from '../service/refused-key.ts';
import type { AuditOrigin, FoundKey, KeyHash } from '../store/session-store.ts';
import { hashKey, isKey } from './api-keys.ts';
import { allows, type KeyedOperation, neededScope, outOfScope } from './key-scopes.ts';
import type { LocalOptions } from './local-options.ts';
import { RefusedLogins } from './refused-logins.ts';

/** How many valid keys are remembered, those that were used last. The limit bounds the memory. A forgotten key is looked up again. */
const maxRememberedKeys = 1000;
const hourMs = 60 * 60 * 1000;

/** The project of a call. `keyHash`: the hash of its key, which the store checks with the call; null if the key was checked before. */
export interface Access {
  readonly projectId: string;
  readonly keyHash: KeyHash;
}

/** The facts of a key that never change. */
interface KeyFacts {
  readonly keyId: string;
  readonly projectId: string;
  readonly scope: KeyScope | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly hasBudget: boolean;
}

/** A key that the store has found. */
interface KnownKey {
  readonly hash: Uint8Array;
  readonly facts: KeyFacts;
  /** The hour (ms) whose use of the key is stored, or is being stored. */
  usedAt: number;
}

export class KeyCheck {
  readonly #local: Pick<LocalOptions, 'store' | 'now'>;
  readonly #known = new Map<string, KnownKey>();
  readonly #refusedLogins: RefusedLogins;

  constructor(local: Pick<LocalOptions, 'store' | 'now'>) {
    this.#local = local;
    this.#refusedLogins = new RefusedLogins(local);
  }

  /**
   * The facts of a key. Absent, malformed, unknown, revoked and expired keys get one identical error, `INVALID_API_KEY`. The store is asked
   * each time, so a revoked key is refused at once. Only facts that never change are remembered.
   */
  async verify(apiKey: string): Promise<KeyIdentity> {
    const { project_id, project_name, key_id, key_name, created_at } = (await this.#find(apiKey)).record;
    return { project_id, project_name, key_id, key_name, created_at };
  }

  /** The id of the project that a call is for. Throws `FORBIDDEN` for an operation outside of the key's scope. */
  async project(call: Call, operation: KeyedOperation): Promise<string> {
    const { projectId = null, apiKey } = call;
    const key = projectId === null ? null : this.#recall(apiKey);
    const { facts } = key ?? (await this.#find(apiKey)).key;
    checkScope(facts, neededScope[operation]);
    return projectId ?? facts.projectId;
  }

  /**
   * For a call whose statement in the store also checks the key, so that it needs no query before it. `check` throws for a faulty request.
   * If the key is refused too, that error comes first.
   */
  async access<T>(call: Call, operation: KeyedOperation, check: () => T): Promise<Access & { checked: T }> {
    const { projectId = null, apiKey } = call;
    const key = projectId === null ? this.#recall(apiKey) : null;
    if (key === null) {
      const verified = await this.project(call, operation);
      return { projectId: verified, keyHash: null, checked: check() };
    }
    this.#use(key);
    try {
      checkScope(key.facts, neededScope[operation]);
      return { projectId: key.facts.projectId, keyHash: key.hash, checked: check() };
    } catch (error) {
      await this.verify(apiKey);
      throw error;
    }
  }

  /** Settles like the call of the store that checks this key. If the store refuses the key, that is recorded. */
  async recordRefusal<T>(keyHash: KeyHash, storeCall: Promise<T>): Promise<T> {
    try {
      return await storeCall;
    } catch (error) {
      if (keyHash !== null && hasCode(error, 'INVALID_API_KEY')) this.#refusedLogins.add(keyHash);
      throw error;
    }
  }

  /** The hash of a key that has a budget; null for a key without one. Call it before any wait after the check: see `origin`. */
  budgetOf({ apiKey }: Call): KeyHash {
    const key = this.#known.get(apiKey);
    return key?.facts.hasBudget ? key.hash : null;
  }

  /** The origin of a call, for the audit log. Call it before any wait after the check, because the key may be forgotten meanwhile. */
  origin({ apiKey, requestId }: Call): AuditOrigin {
    const key_id = this.#known.get(apiKey)?.facts.keyId ?? null;
    return { time: this.#local.now(), key_id, request_id: requestId };
  }

  /** Call it before the store is closed. */
  finish(): Promise<void> {
    return this.#refusedLogins.finish();
  }

  /** Asks the store for a key, and remembers it. Throws for a key that is refused. */
  async #find(apiKey: string): Promise<{ readonly record: FoundKey; readonly key: KnownKey }> {
    const hash = this.#known.get(apiKey)?.hash ?? (isKey(apiKey) ? hashKey(apiKey) : null);
    const record = hash === null ? null : await this.#local.store.findKey(hash);
    if (hash === null || record === null) {
      this.#refusedLogins.add(hash);
      throw refusedKey();
    }
    const key = this.#recall(apiKey) ?? this.#remember(apiKey, { hash, facts: factsOf(record), usedAt: 0 });
    key.usedAt = Math.max(key.usedAt, record.last_used_at === null ? 0 : Date.parse(record.last_used_at));
    this.#use(key);
    return { record, key };
  }

  /** Throws for an expired key. Stores the hour of the use, but no call waits for that, and none fails with it. */
  #use(key: KnownKey): void {
    const now = this.#local.now();
    if (now >= key.facts.expiresAt) {
      this.#refusedLogins.add(key.hash);
      throw refusedKey();
    }
    if (now - key.usedAt < hourMs) return;
    key.usedAt = now - (now % hourMs);
    this.#local.store.budgets.recordUse(key.hash, key.usedAt).catch(() => {});
  }

  /** Null for a key that is not remembered. While there is room for many others, the order does not matter, and changing it costs time. */
  #recall(apiKey: string): KnownKey | null {
    const key = this.#known.get(apiKey) ?? null;
    if (key === null || this.#known.size < maxRememberedKeys / 2) return key;
    this.#known.delete(apiKey);
    this.#known.set(apiKey, key);
    return key;
  }

  #remember(apiKey: string, key: KnownKey): KnownKey {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= maxRememberedKeys) this.#known.delete(oldest);
    this.#known.set(apiKey, key);
    return key;
  }
}

function factsOf({
  key_id,
  project_id,
  scope,
  expires_at,
  turns_per_day,
  tokens_per_day,
}: FoundKey): KeyFacts {
  return {
    keyId: key_id,
    projectId: project_id,
    scope,
    expiresAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
    hasBudget: turns_per_day !== null || tokens_per_day !== null,
  };
}

function checkScope({ scope }: KeyFacts, needed: KeyScope): void {
  if (!allows(scope, needed)) throw outOfScope(scope, needed);
}
