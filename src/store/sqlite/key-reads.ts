// Looking up keys for many requests that come at the same moment: one look serves them all. It is kept only until the event loop
// turns, so what another process has committed before a request was sent is seen by that request.
import type { KeyIdentity } from '../../service/conversation-service.ts';
import type { Connection } from './connection.ts';
import { findKey } from './keys.ts';

export class KeyReads {
  readonly #found = new Map<string, KeyIdentity>();

  /** Forgets now: a key was revoked here. */
  readonly forget = () => this.#found.clear();

  find(connection: Connection, hash: Uint8Array): KeyIdentity | null {
    const name = Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const identity = findKey(connection, hash);
    if (identity === null) return null;
    if (this.#found.size === 0) setImmediate(this.forget);
    this.#found.set(name, identity);
    return identity;
  }
}
