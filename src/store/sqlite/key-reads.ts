// Looks up keys while reads are shared: one look-up serves all requests of the same moment with the same hash. Two hashes count as the same
// if they are the same object: the service's key check returns one object per key.
import type { KeyIdentity } from '../../service/conversation-service.ts';
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
}
