// All rows of a store in SQLite, out and in, for a copy. Long texts are read a page at a time; a page is written in one transaction.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import {
  type AuditRow,
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
import { ageTime, type Clocks } from './age-clock.ts';
import { addAudit, auditStatements } from './audit.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import type { FilesInPlace } from './files-in-place.ts';
import type { LockWait } from './lock-wait.ts';
import { keepTags } from './ordering.ts';
import { openSnapshot } from './snapshot.ts';
import { StoreAccess } from './store-access.ts';
import { rowStatements as sql } from './store-row-statements.ts';
import { storeItself } from './writer.ts';

type HeadRow = Omit<SessionHead, 'pinned' | 'archived'> & {
  readonly id: number;
  readonly pinned: number;
  readonly archived: number;
};
type Finish = StoredMessage['finish_reason'];
/** The columns of `sql.messages`. */
type StoredValues = readonly [
  ...[message_id: string, position: number, role: StoredMessage['role'], content: string, mode: string],
  ...[finish_reason: Finish, input_tokens: number | null, output_tokens: number | null],
  ...[first_token_ms: number | null, error_code: string | null, created_at: number, copied: number | null],
  ...[alternative_of: string | null, undone_at: number | null],
];

type Read = <T>(work: (connection: Connection) => T) => Promise<T>;

export function sqliteRows(
  connection: Connection,
  wait: LockWait,
  clocks: () => Clocks,
  files: FilesInPlace,
): StoreRows {
  const access = new StoreAccess(connection, wait, { files });
  const write = (work: () => void): Promise<void> => access.run(() => access.writer.writeAlone(work));
  // SQLite works in the event loop: what another store was just asked is sent before, so that both work at once.
  const readLater: Read = async (work) => {
    await yieldToEventLoop();
    return access.read(work);
  };
  return {
    ...readsOf(readLater),
    async readHeads(projectId, after) {
      const { heads } = await readLater((from) => readHeads(from, projectId, after));
      return heads.map(toHead);
    },
    // A read of the clock of keys may write its state (age-clock.ts).
    readIdempotency: (projectId, after) =>
      access.write(projectId, () =>
        readIdempotency(connection, projectId, after, ageTime(connection, clocks())),
      ),
    async atOneMoment(work) {
      const now = await access.write(storeItself, () => ageTime(connection, clocks()));
      const snapshot = await access.run(() => openSnapshot(connection, wait));
      const read: Read = (rows) =>
        access.run(async () => {
          await yieldToEventLoop();
          return rows(snapshot);
        });
      try {
        return await work({
          ...readsOf(read),
          readIdempotency: (projectId, after) => read((from) => readIdempotency(from, projectId, after, now)),
        });
      } finally {
        snapshot.close();
      }
    },
    addProjects: (projects) =>
      write(() => {
        for (const project of projects) connection.run(sql.addProject, { ...project });
      }),
    addKeys: (keys) =>
      write(() => {
        for (const key of keys) connection.run(sql.addKey, { ...key });
      }),
    addParts: (projectId, parts) =>
      write(() => {
        for (const part of parts) addPart(connection, projectId, part);
      }),
    addIdempotency: (projectId, rows) =>
      write(() => {
        const now = ageTime(connection, clocks());
        for (const { age_ms, ...row } of rows)
          connection.run(sql.addIdempotency, { projectId, created_at: now - age_ms, ...row });
      }),
    addAudit: (rows) => write(() => addAudit(connection, rows)),
    removeSessions: (projectId, sessionIds) =>
      write(() => {
        for (const session_id of sessionIds) {
          const row = connection.get<{ id: number }>(sql.find, { projectId, session_id });
          if (row === undefined) continue;
          for (const statement of sql.remove) connection.run(statement, { session: row.id });
        }
      }),
    copyNote: () => access.read((from) => from.get<{ value: string }>(sql.note)?.value ?? null),
    setCopyNote: (note) =>
      write(() => {
        connection.run(sql.setNote, { note });
      }),
    close: () => access.close(),
  };
}

/** The reads that need no clock. */
function readsOf(read: Read): Omit<StoreRowReads, 'readIdempotency'> {
  return {
    projects: () => read((from) => from.all<ProjectRow>(sql.projects)),
    keys: () => read((from) => from.all<ProjectKeyRow>(sql.keys)),
    count: (projectId) => read((from) => from.get<StoreCounts>(sql.count, { projectId }) as StoreCounts),
    readParts: (projectId, place) =>
      read((from) => from.readSnapshot(() => readParts(from, projectId, place))),
    readAudit: (after) => read((from) => from.all<AuditRow>(auditStatements.read, { after })),
  };
}

function addPart(connection: Connection, projectId: string, { session, messages }: SessionPart): void {
  const { changes, rowId } = connection.runValues(sql.addSession, valuesOfHead(projectId, session));
  const { session_id, tags } = session;
  if (changes > 0 && tags !== null) keepTags(connection, rowId);
  const id = changes > 0 ? rowId : connection.get<{ id: number }>(sql.find, { projectId, session_id })?.id;
  for (const message of messages) {
    const { alternative_of, undone_at } = message;
    const values = valuesOf(id ?? -1, message);
    if (alternative_of === null && undone_at === null) connection.runValues(sql.addMessage, values);
    else connection.runValues(sql.addHiddenMessage, [...values, alternative_of, undone_at]);
  }
}

/** `now`: the time of the clock of keys, ms. */
function readIdempotency(
  connection: Connection,
  projectId: string,
  after: string | null,
  now: number,
): readonly IdempotencyRow[] {
  return connection.all<IdempotencyRow>(sql.idempotency, { projectId, after: after ?? '', now });
}

/** The sessions that fit on a page. `maxMessages`: no session is read after the one with this message. */
function readHeads(
  connection: Connection,
  projectId: string,
  place: string | null,
  { statement = sql.headsAfter, maxMessages = Number.POSITIVE_INFINITY } = {},
) {
  let settingsLeft: number = pageLimits.textBytes;
  let messagesLeft = maxMessages;
  let isFull = false;
  const bindings = { projectId, place: place ?? '', limit: pageLimits.sessions };
  const heads = connection.allWhile<HeadRow>(statement, bindings, (head) => {
    settingsLeft -= settingsBytes(head);
    isFull = settingsLeft < 0 || messagesLeft <= 0;
    messagesLeft -= head.message_count;
    return !isFull;
  });
  return { heads, isLast: heads.length < pageLimits.sessions && !isFull };
}

function readParts(connection: Connection, projectId: string, from: PartPlace | null): PartPage {
  const { heads, isLast } = readHeads(connection, projectId, from?.session_id ?? null, {
    statement: from?.message == null ? sql.headsAfter : sql.headsFrom,
    maxMessages: (from?.message?.position ?? 0) + pageLimits.messages,
  });
  const parts: SessionPart[] = [];
  let messagesLeft: number = pageLimits.messages;
  let bytesLeft: number = pageLimits.textBytes;
  for (const row of heads) {
    const { id } = row;
    const session = toHead(row);
    const begin = session.session_id === from?.session_id ? from.message : null;
    let next: PartPlace | null = null;
    const rows = connection.valuesWhile<StoredValues>(
      sql.messages,
      { session: id, ...(begin ?? firstMessage) },
      ([message_id, position, , content]) => {
        if (messagesLeft === 0 || bytesLeft <= 0)
          next = { session_id: session.session_id, message: { position, message_id } };
        messagesLeft -= 1;
        bytesLeft -= content.length;
        return next === null;
      },
    );
    if (next === null || rows.length > 0) parts.push({ session, messages: rows.map(toMessage) });
    if (next !== null) return { parts, next };
  }
  const last = isLast ? undefined : heads.at(-1);
  return { parts, next: last === undefined ? null : { session_id: last.session_id, message: null } };
}

function toHead({ id: _, ...head }: HeadRow): SessionHead {
  return { ...head, pinned: head.pinned === 1, archived: head.archived === 1 };
}

function toMessage(values: StoredValues): StoredMessage {
  return {
    message_id: values[0],
    position: values[1],
    role: values[2],
    content: values[3],
    mode: values[4],
    finish_reason: values[5],
    input_tokens: values[6],
    output_tokens: values[7],
    first_token_ms: values[8],
    error_code: values[9],
    created_at: values[10],
    is_copy: values[11] !== null,
    alternative_of: values[12],
    undone_at: values[13],
  };
}

/** The values of `sql.addMessage`. */
function valuesOf(session: number, one: StoredMessage): SqlValue[] {
  return [
    ...[session, one.message_id, one.position, one.role, one.content, one.mode, one.finish_reason],
    ...[one.input_tokens, one.output_tokens, one.first_token_ms, one.error_code, one.created_at],
    one.is_copy ? 1 : null,
  ];
}

/** The values of `sql.addSession`. */
function valuesOfHead(projectId: string, one: SessionHead): SqlValue[] {
  const turn = one.turn_position === null ? [null, null] : ['copy', 0];
  const values = headColumns.map((name) => {
    const value = one[name];
    return typeof value === 'boolean' ? Number(value) : value;
  });
  return [projectId, ...values, ...turn];
}
