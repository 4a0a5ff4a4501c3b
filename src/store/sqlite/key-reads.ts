// Looks up keys: one look-up serves all requests with the same hash in one transaction of writes, or in one moment of shared reads. Two
// hashes count as the same if they are the same object: the service's key check returns one object per key.
import { refusedKey } from '../../service/refused-key.ts';
import type { FoundKey } from '../key-budgets.ts';
import type { Connection } from './connection.ts';
import { findKey } from './keys.ts';

export class KeyReads {
  readonly #found = new Map<Uint8Array, FoundKey>();
  #moment: object | null = null;

  /** Forgets all results, because a key was revoked here. */
  forget(): void {
    this.#found.clear();
  }

  find(connection: Connection, hash: Uint8Array): FoundKey | null {
    const { moment } = connection;
    if (moment === null) return findKey(connection, hash);
    if (moment !== this.#moment) this.forget();
    this.#moment = moment;
    const known = this.#found.get(hash);
    if (known !== undefined) return known;
    const identity = findKey(connection, hash);
    if (identity !== null) this.#found.set(hash, identity);
    return identity;
  }

  /** Throws `INVALID_API_KEY` for a key that is revoked or of another project. `hash` is null if the key was checked before. */
  check(connection: Connection, projectId: string, hash: Uint8Array | null): void {
    if (hash !== null && this.find(connection, hash)?.project_id !== projectId) throw refusedKey();
  }
}
