// Reads and writes all rows of a store in PostgreSQL, for a copy. A page is written as arrays, in one transaction.
import {
  type AuditRow,
  firstMessage,
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
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { type RunCall, runOver } from './run-call.ts';
import { atOneMoment } from './snapshot.ts';
import { rowStatements as sql } from './store-row-statements.ts';

type HeadRow = SessionHead & { readonly id: number };
/** `content` is null from the first row on that has no room on the page. */
type PlacedMessage = Omit<StoredMessage, 'content'> & {
  readonly place: number;
  readonly content: string | null;
};

export class PostgresRows implements StoreRows {
  readonly #connections: ConnectionPool;
  readonly #name: string;
  readonly #run: RunCall;

  constructor(connections: ConnectionPool, name: string) {
    this.#connections = connections;
    this.#name = name;
    this.#run = runOver(connections);
  }

  projects(): Promise<readonly ProjectRow[]> {
    return this.#run((ask) => readsOf(ask).projects());
  }

  keys(): Promise<readonly ProjectKeyRow[]> {
    return this.#run((ask) => readsOf(ask).keys());
  }

  count(projectId: string): Promise<StoreCounts> {
    return this.#run((ask) => readsOf(ask).count(projectId));
  }

  readParts(projectId: string, from: PartPlace | null): Promise<PartPage> {
    return this.#run((ask) => readParts(ask, projectId, from));
  }

  async readHeads(projectId: string, after: string | null): Promise<readonly SessionHead[]> {
    const values = [projectId, after ?? '', pageLimits.sessions];
    const heads = await this.#run((ask) => ask<HeadRow>(sql.headsAfter, values));
    return heads.map(({ id: _, ...head }) => head);
  }

  readIdempotency(projectId: string, after: string | null): Promise<readonly IdempotencyRow[]> {
    return this.#run((ask) => readsOf(ask).readIdempotency(projectId, after));
  }

  readAudit(after: number): Promise<readonly AuditRow[]> {
    return this.#run((ask) => readAudit(ask, after));
  }

  addAudit(rows: readonly AuditRow[]): Promise<void> {
    return this.#do((ask) => addAudit(ask, rows));
  }

  atOneMoment<T>(work: (rows: StoreRowReads) => Promise<T>): Promise<T> {
    return atOneMoment(this.#connections, this.#name, readsOf, work);
  }

  addProjects(projects: readonly ProjectRow[]): Promise<void> {
    const column = <T>(of: (row: ProjectRow) => T) => projects.map(of);
    const values = [
      column((row) => row.project_id),
      column((row) => row.name),
      column((row) => row.created_at),
    ];
    return this.#do((ask) => ask(sql.addProjects, values));
  }

  addKeys(keys: readonly ProjectKeyRow[]): Promise<void> {
    const column = <T>(of: (row: ProjectKeyRow) => T) => keys.map(of);
    return this.#do((ask) =>
      ask(sql.addKeys, [
        ...[column((row) => row.key_id), column((row) => row.name), column((row) => Buffer.from(row.hash))],
        ...[
          column((row) => row.project_id),
          column((row) => row.created_at),
          column((row) => row.revoked_at),
          column((row) => row.scope),
          column((row) => row.expires_at),
          column((row) => row.turns_per_day),
          column((row) => row.tokens_per_day),
        ],
      ]),
    );
  }

  addParts(projectId: string, parts: readonly SessionPart[]): Promise<void> {
    const values = [projectId, ...sessionColumns(parts), ...messageColumns(parts)];
    return this.#do((ask) => ask(sql.addParts, values));
  }

  addIdempotency(projectId: string, rows: readonly IdempotencyRow[]): Promise<void> {
    const column = <T>(of: (row: IdempotencyRow) => T) => rows.map(of);
    return this.#do((ask) =>
      ask(sql.addIdempotency, [
        ...[projectId, column((row) => row.key), column((row) => Buffer.from(row.request_hash))],
        ...[column((row) => row.session_id), column((row) => row.position), column((row) => row.message_id)],
        ...[column((row) => row.reply_id), column((row) => row.answer)],
        column((row) => Math.round(row.age_ms)),
      ]),
    );
  }

  removeSessions(projectId: string, sessionIds: readonly string[]): Promise<void> {
    return this.#do((ask) => ask(sql.remove, [projectId, sessionIds]));
  }

  async copyNote(): Promise<string | null> {
    const [row] = await this.#run((ask) => ask<{ value: string }>(sql.note));
    return row?.value ?? null;
  }

  setCopyNote(note: string): Promise<void> {
    return this.#do((ask) => ask(sql.setNote, [note]));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  async #do(call: (ask: Ask) => Promise<unknown>): Promise<void> {
    await this.#run(call);
  }
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

function sessionColumns(parts: readonly SessionPart[]): readonly unknown[] {
  const column = <T>(of: (session: SessionHead) => T) => parts.map(({ session }) => of(session));
  return [
    ...[column((one) => one.session_id), column((one) => one.title), column((one) => one.created_at)],
    ...[column((one) => one.updated_at), column((one) => one.message_count), column((one) => one.deleted_at)],
    ...[
      column((one) => one.turn_position),
      column((one) => one.turn_epoch),
      column((one) => one.undone_turns),
    ],
    ...[column((one) => one.mode), column((one) => one.parent_id), column((one) => one.forked_at)],
    ...[column((one) => one.parameters), column((one) => one.system)],
    ...[column((one) => one.pinned), column((one) => one.archived), column((one) => one.tags)],
    column((one) => one.user_id),
  ];
}

/** The messages, each with the place of its session among the parts. */
function messageColumns(parts: readonly SessionPart[]): readonly unknown[] {
  const places = parts.flatMap(({ messages }, place) => messages.map(() => place + 1));
  const all = parts.flatMap(({ messages }) => messages);
  const column = <T>(of: (message: StoredMessage) => T) => all.map(of);
  return [
    ...[places, column((one) => one.position), column((one) => one.message_id), column((one) => one.role)],
    ...[column((one) => one.content), column((one) => one.mode), column((one) => one.finish_reason)],
    ...[column((one) => one.input_tokens), column((one) => one.output_tokens)],
    ...[
      column((one) => one.first_token_ms),
      column((one) => one.error_code),
      column((one) => one.created_at),
    ],
    ...[column((one) => one.is_copy), column((one) => one.alternative_of), column((one) => one.undone_at)],
  ];
}
