// The audit log in PostgreSQL. The statement that does something also adds the waiting entry. The row of the head is the lock of the
// processes that chain.
import type { AuditHead } from '../../service/audit-entry.ts';
import { toTime } from '../../service/iso-time.ts';
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
import type { ChainRule, StoreRules } from '../store-rules.ts';
import { fieldsOf } from './columns.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import type { RunCall } from './run-call.ts';
import { type Statement, statement } from './statement.ts';

const addWaiting = statement('INSERT INTO parley.audit_waiting (entry) VALUES ($1)');
/**
 * SQL for a call that is sent again: true if its first sending has recorded the entry, which may be in the chain by now. `entry` is SQL. A
 * connection is lost for a moment, so the entry is among the last ones.
 */
export const isRecorded = (entry: string) => `(
  EXISTS (SELECT 1 FROM parley.audit_waiting AS waiting WHERE waiting.entry = ${entry}) OR EXISTS (
    SELECT 1 FROM (SELECT entry FROM parley.audit ORDER BY number DESC LIMIT 10000) AS chained WHERE chained.entry = ${entry}))`;
const addWaitingAgain = statement(
  `INSERT INTO parley.audit_waiting (entry) SELECT $1::text WHERE NOT ${isRecorded('$1::text')}`,
);
const isWaiting = statement('SELECT 1 FROM parley.audit_waiting WHERE id <= $1 LIMIT 1');
const lastWaiting = statement('SELECT coalesce(max(id), 0) AS id FROM parley.audit_waiting');
const lockHead = statement(`SELECT value FROM parley.meta WHERE name = 'audit_head' FOR UPDATE`);
const findHead = statement(`SELECT value FROM parley.meta WHERE name = 'audit_head'`);
const setHead = statement(`UPDATE parley.meta SET value = $1 WHERE name = 'audit_head'`);
const takeWaiting = statement(`
  WITH taken AS (
    DELETE FROM parley.audit_waiting WHERE id IN (
      SELECT id FROM (
        SELECT id, sum(length(entry)) OVER (ORDER BY id) - length(entry) AS before
        FROM (SELECT id, entry FROM parley.audit_waiting WHERE id <= $1 ORDER BY id LIMIT ${auditPage}) AS next
      ) AS page WHERE before < ${maxChainedLength})
    RETURNING id, entry
  )
  SELECT entry FROM taken ORDER BY id`);
const add = statement(`
  INSERT INTO parley.audit (number, entry, hash) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
  ON CONFLICT (number) DO NOTHING`);
const read = statement(
  `SELECT number, entry, hash FROM parley.audit WHERE number > $1 ORDER BY number LIMIT ${auditPage}`,
);

/**
 * SQL for a statement's WITH: records the sessions in the rows of `work`, if there are any. `note` is SQL for the text of {@link noteOf};
 * nothing is recorded if it is null.
 */
export const auditing = (work: string, note: string) => `
  audited AS (
    INSERT INTO parley.audit_waiting (entry)
    SELECT left(${note}::text, -1) || ',"count":' || count(*) || ',"ids":' || json_agg(session_id ORDER BY session_id)::text || '}'
    FROM ${work} HAVING count(*) > 0 AND ${note}::text IS NOT NULL
  )`;

/** A note without its count and ids; null for a call that is not recorded. */
export function noteOf(
  what: AuditNote['what'],
  project_id: string,
  by: AuditOrigin | undefined,
): string | null {
  if (by === undefined) return null;
  const { time, key_id, request_id } = by;
  return JSON.stringify({ time: toTime(time), what, project_id, key_id, request_id });
}

export async function recordNote(ask: Ask, note: AuditNote): Promise<void> {
  await ask(addWaiting, [noteText(note)], addWaitingAgain);
}

export class PostgresAudit implements AuditLog {
  readonly #connections: ConnectionPool;
  readonly #rules: Pick<StoreRules, 'loadChain'>;
  readonly #run: RunCall;
  readonly #timer = new ChainTimer(() => this.chain());

  constructor(connections: ConnectionPool, rules: Pick<StoreRules, 'loadChain'>, run: RunCall) {
    this.#connections = connections;
    this.#rules = rules;
    this.#run = run;
  }

  /** Called when an entry was recorded. */
  notify(): void {
    this.#timer.notify();
  }

  async record(note: AuditNote): Promise<void> {
    await this.#run((ask) => recordNote(ask, note));
    this.notify();
  }

  async chain(): Promise<void> {
    this.#timer.clear();
    const chain = await this.#rules.loadChain();
    // Later entries are left to the next call.
    const last = await this.#run(async (ask) => (await ask<{ id: number }>(lastWaiting))[0]?.id ?? 0);
    while (await this.#run(async (ask) => (await ask(isWaiting, [last])).length > 0))
      await this.#run(() => this.#connections.transaction((ask) => chainNext(ask, chain, last)));
  }

  read(after: number): Promise<readonly AuditRow[]> {
    return this.#run((ask) => readAudit(ask, after));
  }

  head(): Promise<AuditHead | null> {
    return this.#run((ask) => headOf(ask, findHead));
  }

  end(): Promise<void> {
    return this.#timer.end();
  }
}

async function chainNext(ask: Ask, chain: ChainRule, last: number): Promise<void> {
  const head = await headOf(ask, lockHead);
  const waiting = await ask<{ entry: string }>(takeWaiting, [last]);
  const rows = chain(
    head,
    waiting.map(({ entry }) => entry),
  );
  await addAudit(ask, rows);
}

export function readAudit(ask: Ask, after: number): Promise<readonly AuditRow[]> {
  return ask<AuditRow>(read, [after]);
}

/** Adds rows at the end of the chain. */
export async function addAudit(ask: Ask, rows: readonly AuditRow[]): Promise<void> {
  const last = rows.at(-1);
  if (last === undefined) return;
  await ask(add, fieldsOf(rows, ['number', 'entry', 'hash']));
  await ask(setHead, [headText(last)]);
}

async function headOf(ask: Ask, one: Statement) {
  const [row] = await ask<{ value: string }>(one);
  return parseHead(row?.value ?? '');
}
