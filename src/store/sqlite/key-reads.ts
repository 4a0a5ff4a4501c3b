// Looking up keys while reads are shared: one look serves all requests that came at the same moment and bring the same hash, the
// very object: whoever hashes keys remembers theirs.
import type { KeyIdentity } from '../../service/conversation-service.ts';
import type { Connection } from './connection.ts';
import { findKey } from './keys.ts';

export class KeyReads {
  readonly #found = new Map<Uint8Array, KeyIdentity>();
  #sharing: object | null = null;

  /** Forgets now: a key was revoked here. */
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
