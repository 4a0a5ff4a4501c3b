// Looks up keys: one look-up serves all requests with the same hash in one transaction of writes, or in one turn of the event loop with
// shared reads. Two hashes count as the same if they are the same object: the service's key check returns one object per key.
import { refusedKey } from '../../service/refused-key.ts';
import type { FoundKey } from '../key-budgets.ts';
import type { Connection } from './connection.ts';
import { findKey, findKeyProject } from './keys.ts';

export class KeyReads {
  readonly #found = new Map<Uint8Array, FoundKey>();
  readonly #projects = new Map<Uint8Array, string>();
  #unitOfWork: object | null = null;

  /** Forgets all results, because a key was revoked here. */
  forget(): void {
    this.#found.clear();
    this.#projects.clear();
  }

  find(connection: Connection, hash: Uint8Array): FoundKey | null {
    return this.#read(connection, hash, this.#found, findKey);
  }

  /** Throws `INVALID_API_KEY` for a key that is revoked or of another project. `hash` is null if the key was checked before. */
  check(connection: Connection, projectId: string, hash: Uint8Array | null): void {
    if (hash === null) return;
    if (this.#read(connection, hash, this.#projects, findKeyProject) !== projectId) throw refusedKey();
  }

  #read<T>(
    connection: Connection,
    hash: Uint8Array,
    results: Map<Uint8Array, T>,
    read: (connection: Connection, hash: Uint8Array) => T | null,
  ): T | null {
    const { unitOfWork } = connection;
    if (unitOfWork === null) return read(connection, hash);
    if (unitOfWork !== this.#unitOfWork) this.forget();
    this.#unitOfWork = unitOfWork;
    const known = results.get(hash);
    if (known !== undefined) return known;
    const result = read(connection, hash);
    if (result !== null) results.set(hash, result);
    return result;
  }
}
