// Records refused keys in the audit log. The first refusal is recorded at once. Those of the next minute are counted and recorded together,
// so that no client can fill the log. A key is named by the beginning of its SHA-256, never by a part of itself.
import type { AuditNote } from '../store/session-store.ts';
import type { LocalOptions } from './local-options.ts';

const gatherMs = 60_000;
/** How many keys an entry names at most. */
const maxNamed = 10;

export class RefusedLogins {
  readonly #local: Pick<LocalOptions, 'store' | 'now'>;
  #timer: NodeJS.Timeout | null = null;
  /** The newest recording. Its failure is ignored. */
  #recording = Promise.resolve();
  #count = 0;
  #named = new Set<string>();

  constructor(local: Pick<LocalOptions, 'store' | 'now'>) {
    this.#local = local;
  }

  /** `hash`: that of the key; null for text without the form of a key. No call waits for this. */
  add(hash: Uint8Array | null): void {
    this.#count += 1;
    if (hash !== null && this.#named.size < maxNamed)
      this.#named.add(Buffer.from(hash.subarray(0, 6)).toString('hex'));
    if (this.#timer === null) this.#record();
  }

  /** Records what is counted, before the store is closed. Never rejects. */
  async finish(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#count > 0) this.#record();
    await this.#recording;
  }

  #record(): void {
    const note: AuditNote = {
      what: 'refused_login',
      time: this.#local.now(),
      project_id: null,
      key_id: null,
      request_id: null,
      count: this.#count,
      ids: [...this.#named],
    };
    this.#count = 0;
    this.#named = new Set();
    this.#recording = this.#local.store.audit.record(note).catch(() => {});
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#count > 0) this.#record();
    }, gatherMs);
    this.#timer.unref();
  }
}
