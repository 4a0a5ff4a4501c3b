// The interface of a store's audit log. The transaction of an action also adds the entry, as a waiting one, so that no call waits for another.
// From time to time, and before the log is read, one process at a time moves the waiting entries into the chain.
import type { AuditedAction, AuditHead } from '../service/audit-entry.ts';
import { toTime } from '../service/iso-time.ts';

/** When a call was made, and with which key and request. */
export interface AuditOrigin {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly key_id: string | null;
  readonly request_id: string | null;
}

export interface AuditNote extends AuditOrigin {
  readonly what: AuditedAction;
  readonly project_id: string | null;
  readonly count: number;
  readonly ids: readonly string[];
}

/** An entry of the chain as it is stored. */
export interface AuditRow {
  readonly number: number;
  /** The text of {@link noteText}. */
  readonly entry: string;
  /** SHA-256, in hex. */
  readonly hash: string;
}

export interface AuditLog {
  record(note: AuditNote): Promise<void>;
  /** Moves what waits into the chain. */
  chain(): Promise<void>;
  /** At most {@link auditPage} entries of the chain after a number, in their order. */
  read(after: number): Promise<readonly AuditRow[]>;
  /** The number and the hash of the last entry, as they are stored apart from the chain; null for an empty log. */
  head(): Promise<AuditHead | null>;
}

export const auditPage = 1000;
/** The most text (UTF-16 units) that one transaction chains, which takes some milliseconds. It chains at least one entry. */
export const maxChainedLength = 512 * 1024;

export function noteText({ time, what, project_id, key_id, request_id, count, ids }: AuditNote): string {
  const note = { time: toTime(time), what, project_id, key_id, request_id, count, ids };
  return JSON.stringify(note);
}

/** A key that was created or revoked by the owner of the store. */
export function keyNote(
  what: 'key_created' | 'key_revoked',
  { key_id, project_id }: { readonly key_id: string; readonly project_id: string },
  time: number,
): AuditNote {
  return { time, what, project_id, key_id: null, request_id: null, count: 1, ids: [key_id] };
}

/** Chains the waiting entries soon after one was recorded, once for all that wait by then. */
export class ChainTimer {
  readonly #chain: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;

  constructor(chain: () => Promise<void>) {
    this.#chain = chain;
  }

  notify(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // The next call chains the entries of a failed one.
      this.#chain().catch(() => {});
    }, chainAfterMs);
    this.#timer.unref();
  }

  /** Called when the entries are chained for another reason. */
  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Chains the waiting entries. Resolves when that is done, or after two seconds. */
  async end(): Promise<void> {
    if (this.#timer === null) return;
    this.clear();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, endTimeoutMs);
    });
    await Promise.race([this.#chain().catch(() => {}), timeout]);
    clearTimeout(timer);
  }
}

const chainAfterMs = 1000;
const endTimeoutMs = 2000;

/** The head as a store keeps it. */
export function headText({ number, hash }: AuditHead): string {
  return `${number} ${hash}`;
}

/** The head of a text that {@link headText} has written; null for an empty text. */
export function parseHead(value: string): AuditHead | null {
  const [number = '', hash = ''] = value.split(' ');
  return number === '' ? null : { number: Number(number), hash };
}
