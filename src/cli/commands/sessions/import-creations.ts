// Records the sessions that an import creates in its journal, while no other import on this machine creates any.
import { resolve } from 'node:path';
import type { CliContext } from '../../context.ts';
import type { SessionCreations } from '../../imports/session-import.ts';
import { ImportJournal, type ImportRequest } from '../../session-batch/import-journal.ts';
import { ImportLock } from '../../session-batch/import-lock.ts';
import { batchOwner } from './batch.ts';
import { batchName } from './draft.ts';

export interface ImportToRecord {
  readonly request: ImportRequest;
  /** That of the import to resume. Null for an import that begins its own with the first session. */
  readonly journal: ImportJournal | null;
  readonly isDryRun: boolean;
}

export class ImportCreations implements SessionCreations {
  readonly #context: CliContext;
  readonly #request: ImportRequest;
  /** Null for a dry run, which creates nothing. */
  readonly #lock: ImportLock | null;
  /** The name of the import that is resumed; null for a new one. */
  readonly #resumed: string | null;
  #journal: ImportJournal | null;
  #beginning: Promise<ImportJournal> | null = null;
  #created = 0;

  constructor({ request, journal, isDryRun }: ImportToRecord, context: CliContext) {
    const { host, stopSignal: signal } = context;
    this.#context = context;
    this.#request = request;
    this.#journal = journal;
    this.#resumed = journal?.batch ?? null;
    const say = (line: string) => context.say(line);
    this.#lock = isDryRun ? null : new ImportLock(host.dataDirectory, host, { signal, say });
  }

  /** The name of the batch; null if there is nothing to undo. */
  get batch(): string | null {
    return this.#created > 0 ? (this.#journal?.batch ?? null) : this.#resumed;
  }

  async record(sessionId: string): Promise<void> {
    if (this.#journal === null) {
      this.#beginning ??= this.#begin();
      this.#journal = await this.#beginning;
    }
    this.#created += 1;
    await this.#journal.record(sessionId, this.#context.host.now());
  }

  withdraw(sessionId: string): void {
    this.#created -= 1;
    this.#journal?.withdraw(sessionId);
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock === null ? work() : this.#lock.run(work);
  }

  close(): void {
    this.#lock?.close();
    this.#journal?.close();
  }

  async #begin(): Promise<ImportJournal> {
    const { host } = this.#context;
    const { owner } = await batchOwner(this.#context);
    const made_at = new Date(host.now()).toISOString();
    // It may be resumed from another working directory.
    const paths = this.#request.paths.map((path) => (path === '-' ? path : resolve(path)));
    const facts = { ...owner, ...this.#request, paths, batch: batchName(host), made_at };
    return ImportJournal.begin(host.dataDirectory, { version: 1, kind: 'import', ...facts }, host);
  }
}
