// Looks up keys while reads are shared: one look-up serves all requests of the same moment with the same hash. Two hashes count as the same
// if they are the same object: the service's key check returns one object per key.
import type { KeyIdentity } from '../../service/conversation-service.ts';
import { refusedKey } from '../../service/refused-key.ts';
import type { Connection } from './connection.ts';
import { findKey } from './keys.ts';

export class KeyReads {
  readonly #found = new Map<Uint8Array, KeyIdentity>();
  #sharing: object | null = null;

  /** Forgets all results, because a key was revoked here. */
  forget(): void {
    this.#found.clear();
  }

  find(connection: Connection, hash: Uint8Array): KeyIdentity | null {
    if (connection.sharing === null) return findKey(connection, hash);
    if (connection.sharing !== this.#sharing) this.forget();
    this.#sharing = connection.sharing;
    const known = this.#found.get(hash);
    if (known !== undefined) return known;
    const identity = findKey(connection, hash);
    if (identity !== null) this.#found.set(hash, identity);
    return identity;
  }

  /** As `checkKey`, for a read. */
  check(connection: Connection, projectId: string, hash: Uint8Array | null): void {
    if (hash !== null && this.find(connection, hash)?.project_id !== projectId) throw refusedKey();
  }
}
