// The audit log in SQLite. A waiting entry is written by the transaction that does what the entry records.
import type { AuditHead } from '../../service/audit-entry.ts';
import {
  type AuditLog,
  type AuditNote,
  type AuditOrigin,
  type AuditRow,
  auditPage,
  ChainTimer,
  headText,
  maxChainedLength,
  noteText,
  parseHead,
} from '../audit-log.ts';
import type { PurgeOptions } from '../session-store.ts';
import type { StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import type { StoreAccess } from './store-access.ts';
import { storeItself } from './writer.ts';

interface AuditedSession {
  readonly session_id: string;
  readonly status?: string;
}

export const auditStatements = {
  addWaiting: 'INSERT INTO audit_waiting (entry) VALUES (?)',
  waiting: `SELECT id, entry FROM audit_waiting WHERE id <= @last ORDER BY id LIMIT ${auditPage}`,
  isWaiting: 'SELECT 1 FROM audit_waiting WHERE id <= @last LIMIT 1',
  last: 'SELECT max(id) AS id FROM audit_waiting',
  forget: 'DELETE FROM audit_waiting WHERE id <= @id',
  add: 'INSERT INTO audit (number, entry, hash) VALUES (?, ?, ?) ON CONFLICT (number) DO NOTHING',
  read: `SELECT number, entry, hash FROM audit WHERE number > @after ORDER BY number LIMIT ${auditPage}`,
  head: `SELECT value FROM meta WHERE name = 'audit_head'`,
  setHead: `
    INSERT INTO meta (name, value) VALUES ('audit_head', @value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const;

export class SqliteAudit implements AuditLog {
  readonly #access: StoreAccess;
  readonly #rules: Pick<StoreRules, 'loadChain'>;
  readonly #timer = new ChainTimer(() => this.#chain(0));

  constructor(access: StoreAccess, rules: Pick<StoreRules, 'loadChain'>) {
    this.#access = access;
    this.#rules = rules;
  }

  /** Called inside a transaction of the writer. */
  add(connection: Connection, note: AuditNote): void {
    connection.runValues(auditStatements.addWaiting, [noteText(note)]);
    this.#timer.notify();
  }

  /** Returns the result of a call, and records its sessions; none if `by` is missing. Null and `not_found` are not recorded. */
  recordSessions<Result extends AuditedSession | readonly AuditedSession[] | null>(
    result: Result,
    connection: Connection,
    what: AuditNote['what'],
    project_id: string,
    by: AuditOrigin | undefined,
  ): Result {
    if (by === undefined || result === null) return result;
    const sessions: readonly AuditedSession[] = Array.isArray(result) ? result : [result];
    const ids = sessions.filter(({ status }) => status !== 'not_found').map(({ session_id }) => session_id);
    if (ids.length > 0) this.add(connection, { what, project_id, count: ids.length, ids, ...by });
    return result;
  }

  addPurge(
    connection: Connection,
    project_id: string | null,
    { expected, by, marks = [] }: PurgeOptions,
  ): void {
    if (by !== undefined)
      this.add(connection, { ...by, what: 'purge', project_id, count: expected, ids: marks });
  }

  record(note: AuditNote): Promise<void> {
    return this.#access.write(storeItself, (connection) => this.add(connection, note));
  }

  async chain(): Promise<void> {
    this.#timer.clear();
    await this.#chain(this.#access.wait.waitMs);
  }

  /**
   * Chains what waits now, and leaves later entries to the next call. Rejects if another process holds the
   * store's lock for longer than `waitMs`.
   */
  async #chain(waitMs: number): Promise<void> {
    const { connection, writer } = this.#access;
    const chain = await this.#rules.loadChain();
    const row = await this.#access.read(() => connection.get<{ id: number | null }>(auditStatements.last));
    const last = row?.id ?? 0;
    while (await this.#access.read(() => connection.get(auditStatements.isWaiting, { last }) !== undefined)) {
      const move = () => {
        const waiting = nextWaiting(connection, last);
        const rows = chain(
          headOf(connection),
          waiting.map(({ entry }) => entry),
        );
        if (rows.length === 0) return;
        addAudit(connection, rows);
        connection.run(auditStatements.forget, { id: waiting.at(-1)?.id ?? 0 });
      };
      await this.#access.run(() => writer.write(move, { party: storeItself, waitMs }));
    }
  }

  read(after: number): Promise<readonly AuditRow[]> {
    return this.#access.read((connection) => connection.all<AuditRow>(auditStatements.read, { after }));
  }

  head(): Promise<AuditHead | null> {
    return this.#access.read(headOf);
  }

  end(): Promise<void> {
    return this.#timer.end();
  }
}

/** The waiting entries that are chained in one transaction. */
function nextWaiting(connection: Connection, last: number): readonly { id: number; entry: string }[] {
  let length = 0;
  return connection.allWhile(auditStatements.waiting, { last }, ({ entry }) => {
    const isNext = length < maxChainedLength;
    length += entry.length;
    return isNext;
  });
}

/** Adds rows at the end of the chain. */
export function addAudit(connection: Connection, rows: readonly AuditRow[]): void {
  for (const { number, entry, hash } of rows)
    connection.runValues(auditStatements.add, [number, entry, hash]);
  const last = rows.at(-1);
  if (last !== undefined) connection.run(auditStatements.setHead, { value: headText(last) });
}

function headOf(connection: Connection): AuditHead | null {
  const row = connection.get<{ value: string }>(auditStatements.head);
  return parseHead(row?.value ?? '');
}
