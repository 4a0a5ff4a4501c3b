// Records in the audit log which sessions are read for an export. A server sees an export as reads, one session after another. Those of one
// key are gathered for a second, so that the export of a whole project is a few entries.
import type { AuditNote, AuditOrigin, SessionStore } from '../store/session-store.ts';

const gatherMs = 1000;
/** How many sessions an entry names at most. */
export const maxNamedIds = 1000;

type GatheredReads = AuditOrigin & { readonly project_id: string; readonly ids: Set<string> };

export class ReadExports {
  readonly #store: Pick<SessionStore, 'audit'>;
  /** The reads since the last recording, by project and key. */
  readonly #gathered = new Map<string, GatheredReads>();
  readonly #pending = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(store: Pick<SessionStore, 'audit'>) {
    this.#store = store;
  }

  /** No read waits for this. */
  add(project_id: string, by: AuditOrigin, sessionId: string): void {
    const key = `${project_id} ${by.key_id}`;
    const gathered = this.#gathered.get(key) ?? { ...by, project_id, ids: new Set() };
    this.#gathered.set(key, gathered);
    gathered.ids.add(sessionId);
    if (gathered.ids.size >= maxNamedIds) this.#record(key, gathered);
    this.#timer ??= setTimeout(() => this.#recordAll(), gatherMs).unref();
  }

  /** Records what is gathered, before the store is closed. Never rejects. */
  async finish(): Promise<void> {
    this.#recordAll();
    await Promise.all(this.#pending);
  }

  #recordAll(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [key, gathered] of this.#gathered) this.#record(key, gathered);
  }

  #record(key: string, { ids, ...by }: GatheredReads): void {
    this.#gathered.delete(key);
    const note: AuditNote = { ...by, what: 'export', count: ids.size, ids: [...ids] };
    const recording = this.#store.audit
      .record(note)
      .catch(() => {})
      .finally(() => this.#pending.delete(recording));
    this.#pending.add(recording);
  }
}
