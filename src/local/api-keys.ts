// API keys: `pk_`, then 160 random bits in base62 (27 characters), then the CRC-32 of those characters in base62 (6). The checksum finds a
// typing error without a look-up. The store keeps only the SHA-256 of a key: 160 random bits cannot be guessed, so a slow hash would add
// nothing.
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  base62,
  base62Checksum,
  checksumLength,
  endsInItsChecksum,
} from '../service/base62-checksum.ts';
import type { Call } from '../service/call.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import { refusedKey } from '../service/refused-key.ts';
import type { KeyHash, SessionStore } from '../store/session-store.ts';
import type { RandomBytes } from './ids.ts';

const secretLength = 27;
const keyForm = new RegExp(`^pk_([0-9A-Za-z]{${secretLength + checksumLength}})$`);

/** A new key of this form. */
export function issueKey(random: RandomBytes): string {
  const secret = base62(BigInt(`0x${Buffer.from(random(20)).toString('hex')}`), secretLength);
  return `pk_${secret}${base62Checksum(secret)}`;
}

/** True for text of the right form whose checksum is correct. Only the store knows whether the key exists. */
export function isKey(text: string): boolean {
  const [, random] = keyForm.exec(text) ?? [];
  return random !== undefined && endsInItsChecksum(random);
}

/** The SHA-256 of a key, 32 bytes. It is computed in JavaScript, because loading `node:crypto` would take a twentieth of a start. */
export function hashKey(key: string): Uint8Array {
  return sha256(utf8ToBytes(key));
}

/** How many hashes are remembered. The limit bounds the memory; a forgotten hash is computed again. */
const rememberedKeys = 1000;

/** The project of a call. `keyHash`: the hash of its key, which the store checks with the call; null if the key was checked before. */
export interface Access {
  readonly projectId: string;
  readonly keyHash: KeyHash;
}

interface KnownKey {
  readonly hash: Uint8Array;
  /** Null until the store has found the key. The project of a key never changes. */
  projectId: string | null;
}

export class KeyCheck {
  readonly #store: SessionStore;
  readonly #known = new Map<string, KnownKey>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /**
   * The project of a key. Absent, malformed, unknown and revoked keys get one identical error, `INVALID_API_KEY`. The store is asked each
   * time, so a revoked key is refused at once. Only values that never change are remembered: the hash and the project of a key.
   */
  async verify(apiKey: string): Promise<KeyIdentity> {
    const known = this.#known.get(apiKey) ?? (isKey(apiKey) ? this.#remember(apiKey) : null);
    const identity = known === null ? null : await this.#store.findKey(known.hash);
    if (known === null || identity === null) throw refusedKey();
    known.projectId = identity.project_id;
    return identity;
  }

  /** The id of the project that a call is for. */
  async project({ projectId = null, apiKey }: Call): Promise<string> {
    return projectId ?? (await this.verify(apiKey)).project_id;
  }

  /**
   * For a call whose statement in the store also checks the key, so that it needs no query before it. `check` throws for a faulty request.
   * If the key is refused too, that error comes first.
   */
  async access<T>({ projectId = null, apiKey }: Call, check: () => T): Promise<Access & { checked: T }> {
    const known = projectId === null ? this.#known.get(apiKey) : undefined;
    if (known === undefined || known.projectId === null) {
      const verified = projectId ?? (await this.verify(apiKey)).project_id;
      return { projectId: verified, keyHash: null, checked: check() };
    }
    try {
      return { projectId: known.projectId, keyHash: known.hash, checked: check() };
    } catch (error) {
      await this.verify(apiKey);
      throw error;
    }
  }

  #remember(key: string): KnownKey {
    const known = { hash: hashKey(key), projectId: null };
    if (this.#known.size >= rememberedKeys) this.#known.clear();
    this.#known.set(key, known);
    return known;
  }
}
