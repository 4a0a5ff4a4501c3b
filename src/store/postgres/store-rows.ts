// Reads and writes all rows of a store in PostgreSQL, for a copy. A page is written as arrays, in one transaction.
import {
  firstMessage,
  headColumns,
  type IdempotencyRow,
  type PartPage,
  type PartPlace,
  type ProjectKeyRow,
  type ProjectRow,
  pageLimits,
  type SessionHead,
  type SessionPart,
  type StoreCounts,
  type StoredMessage,
  type StoreRowReads,
  type StoreRows,
  settingsBytes,
} from '../store-rows.ts';
import { addAudit, readAudit } from './audit.ts';
import { fieldsOf } from './columns.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { runOver } from './run-call.ts';
import { atOneMoment } from './snapshot.ts';
import type { Statement } from './statement.ts';
import { rowStatements as sql } from './store-row-statements.ts';

type HeadRow = SessionHead & { readonly id: number };
/** `content` is null from the first row on that has no room on the page. */
type PlacedMessage = Omit<StoredMessage, 'content'> & {
  readonly place: number;
  readonly content: string | null;
};

export function postgresRows(connections: ConnectionPool, name: string): StoreRows {
  const run = runOver(connections);
  const ask: Ask = (one, values, again) => run((send) => send(one, values, again));
  const write = async (one: Statement, values: readonly unknown[]): Promise<void> => {
    await ask(one, values);
  };
  return {
    ...readsOf(ask),
    async readHeads(projectId, after) {
      const heads = await ask<HeadRow>(sql.headsAfter, [projectId, after ?? '', pageLimits.sessions]);
      return heads.map(({ id: _, ...head }) => head);
    },
    atOneMoment: (work) => atOneMoment(connections, name, readsOf, work),
    addProjects: (projects) =>
      write(sql.addProjects, fieldsOf(projects, ['project_id', 'name', 'created_at'])),
    addKeys(keys) {
      const rows = keys.map((key) => ({ ...key, hash: Buffer.from(key.hash) }));
      return write(sql.addKeys, [
        ...fieldsOf(rows, ['key_id', 'name', 'hash', 'project_id', 'created_at', 'revoked_at']),
        ...fieldsOf(rows, ['scope', 'expires_at', 'turns_per_day', 'tokens_per_day']),
      ]);
    },
    addParts(projectId, parts) {
      const heads = parts.map(({ session }) => session);
      return write(sql.addParts, [projectId, ...fieldsOf(heads, headColumns), ...messageColumns(parts)]);
    },
    addIdempotency: (projectId, rows) =>
      write(sql.addIdempotency, [
        ...[projectId, rows.map(({ key }) => key), rows.map((row) => Buffer.from(row.request_hash))],
        ...fieldsOf(rows, ['session_id', 'position', 'message_id', 'reply_id', 'answer']),
        rows.map((row) => Math.round(row.age_ms)),
      ]),
    addAudit: (rows) => run((send) => addAudit(send, rows)),
    removeSessions: (projectId, sessionIds) => write(sql.remove, [projectId, sessionIds]),
    copyNote: async () => (await ask<{ value: string }>(sql.note))[0]?.value ?? null,
    setCopyNote: (note) => write(sql.setNote, [note]),
    close: () => connections.close(),
  };
}

function readsOf(ask: Ask): StoreRowReads {
  return {
    projects: () => ask<ProjectRow>(sql.projects),
    keys: () => ask<ProjectKeyRow>(sql.keys),
    count: async (projectId) => (await ask<StoreCounts>(sql.count, [projectId]))[0] as StoreCounts,
    readParts: (projectId, from) => readParts(ask, projectId, from),
    readIdempotency: (projectId, after) => ask<IdempotencyRow>(sql.idempotency, [projectId, after ?? '']),
    readAudit: (after) => readAudit(ask, after),
  };
}

async function readParts(ask: Ask, projectId: string, from: PartPlace | null): Promise<PartPage> {
  const isWithin = from !== null && from.message !== null;
  const found = await ask<HeadRow>(isWithin ? sql.headsFrom : sql.headsAfter, [
    ...[projectId, from?.session_id ?? '', pageLimits.sessions],
  ]);
  const isBegun = isWithin && found[0]?.session_id === from.session_id;
  const begin = (isBegun && from.message) || firstMessage;
  const heads = fitting(found, begin.position);
  const ids = heads.map(({ id }) => id);
  const rows = await ask<PlacedMessage>(sql.messages, [ids, begin.position, begin.message_id]);
  const parts = heads.map(({ id: _, ...session }) => ({ session, messages: [] as StoredMessage[] }));
  for (const [number, row] of rows.entries()) {
    const at = row.place - 1;
    const { content, position, message_id } = row;
    const { session, messages } = parts[at] as (typeof parts)[number];
    if (number === pageLimits.messages || content === null) {
      return {
        parts: parts.slice(0, messages.length > 0 ? at + 1 : at),
        next: { session_id: session.session_id, message: { position, message_id } },
      };
    }
    messages.push(toMessage(row, content));
  }
  const isLast = heads.length === found.length && found.length < pageLimits.sessions;
  const last = isLast ? undefined : heads.at(-1);
  return { parts, next: last === undefined ? null : { session_id: last.session_id, message: null } };
}

/** Each column by its name: a copy of the row by `...` takes several times as long. */
function toMessage(row: PlacedMessage, content: string): StoredMessage {
  return {
    position: row.position,
    message_id: row.message_id,
    role: row.role,
    content,
    mode: row.mode,
    finish_reason: row.finish_reason,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    first_token_ms: row.first_token_ms,
    error_code: row.error_code,
    created_at: row.created_at,
    is_copy: row.is_copy,
    alternative_of: row.alternative_of,
    undone_at: row.undone_at,
  };
}

/** The first sessions that fit on a page by the number of their messages and by their settings; at least one session. */
function fitting(heads: readonly HeadRow[], begin: number): readonly HeadRow[] {
  let messages = -begin;
  let bytes = 0;
  const end = heads.findIndex((head) => {
    messages += head.message_count;
    bytes += settingsBytes(head);
    return messages > pageLimits.messages || bytes > pageLimits.textBytes;
  });
  return end < 0 ? heads : heads.slice(0, Math.max(1, end));
}

/** The messages, each with the place of its session among the parts. */
function messageColumns(parts: readonly SessionPart[]): readonly unknown[] {
  const places = parts.flatMap(({ messages }, place) => messages.map(() => place + 1));
  const all = parts.flatMap(({ messages }) => messages);
  return [places, ...fieldsOf(all, storedFields)];
}

/** In the order of the arrays of a message. */
const storedFields = [
  ...(['position', 'message_id', 'role', 'mode', 'finish_reason', 'input_tokens', 'output_tokens'] as const),
  ...(['first_token_ms', 'error_code', 'created_at', 'content', 'is_copy'] as const),
  ...(['alternative_of', 'undone_at'] as const),
] as const satisfies readonly (keyof StoredMessage)[];
