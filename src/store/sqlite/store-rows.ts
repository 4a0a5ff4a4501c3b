// All rows of a store in SQLite, out and in, for a copy. Long texts are read a page at a time; a page is written in one transaction.

import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import {
  firstMessage,
  type IdempotencyRow,
  type KeptMessage,
  type PartPage,
  type PartPlace,
  type ProjectKeyRow,
  type ProjectRow,
  pageLimits,
  type SessionHead,
  type SessionPart,
  type StoreCounts,
  type StoreRows,
  settingsBytes,
} from '../store-rows.ts';
import { ageTime, type Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { keepTags } from './ordering.ts';
import { StoreAccess } from './store-access.ts';
import { rowStatements as sql } from './store-row-statements.ts';

type HeadRow = Omit<SessionHead, 'pinned' | 'archived'> & {
  readonly id: number;
  readonly pinned: number;
  readonly archived: number;
};
type StoredMessage = Omit<KeptMessage, 'is_copy'> & { readonly copied: number | null };

export class SqliteRows implements StoreRows {
  readonly #access: StoreAccess;
  readonly #clocks: () => Clocks;

  constructor(connection: Connection, wait: LockWait, clocks: () => Clocks) {
    this.#access = new StoreAccess(connection, wait);
    this.#clocks = clocks;
  }

  projects(): Promise<readonly ProjectRow[]> {
    return this.#access.read((connection) => connection.all<ProjectRow>(sql.projects));
  }

  keys(): Promise<readonly ProjectKeyRow[]> {
    return this.#access.read((connection) => connection.all<ProjectKeyRow>(sql.keys));
  }

  count(projectId: string): Promise<StoreCounts> {
    return this.#access.read(
      (connection) => connection.get<StoreCounts>(sql.count, { projectId }) as StoreCounts,
    );
  }

  async readParts(projectId: string, from: PartPlace | null): Promise<PartPage> {
    // SQLite works in the event loop: what another store was just asked is sent before, so that both work at once.
    await yieldToEventLoop();
    return this.#access.read((connection) =>
      connection.readAtOneMoment(() => readParts(connection, projectId, from)),
    );
  }

  readIdempotency(projectId: string, after: string | null): Promise<readonly IdempotencyRow[]> {
    // A read of the clock of keys may write its state (age-clock.ts).
    return this.#access.write(projectId, (connection) => {
      const now = ageTime(connection, this.#clocks());
      return connection.all<IdempotencyRow>(sql.idempotency, { projectId, after: after ?? '', now });
    });
  }

  addProjects(projects: readonly ProjectRow[]): Promise<void> {
    return this.#write((connection) => {
      for (const project of projects) connection.run(sql.addProject, { ...project });
    });
  }

  addKeys(keys: readonly ProjectKeyRow[]): Promise<void> {
    return this.#write((connection) => {
      for (const key of keys) connection.run(sql.addKey, { ...key });
    });
  }

  addParts(projectId: string, parts: readonly SessionPart[]): Promise<void> {
    return this.#write((connection) => {
      for (const { session, messages } of parts) {
        const { session_id, pinned, archived, tags } = session;
        const flags = { pinned: Number(pinned), archived: Number(archived) };
        const { changes, rowId } = connection.run(sql.addSession, { ...session, ...flags, projectId });
        if (changes > 0 && tags !== null) keepTags(connection, rowId);
        const id =
          changes > 0 ? rowId : connection.get<{ id: number }>(sql.find, { projectId, session_id })?.id;
        for (const { is_copy, ...message } of messages) {
          const isHidden = message.alternative_of !== null || message.undone_at !== null;
          const values = { ...message, copied: is_copy ? 1 : null, session: id ?? -1 };
          connection.run(isHidden ? sql.addHiddenMessage : sql.addMessage, values);
        }
      }
    });
  }

  addIdempotency(projectId: string, rows: readonly IdempotencyRow[]): Promise<void> {
    return this.#write((connection) => {
      const now = ageTime(connection, this.#clocks());
      for (const { age_ms, ...row } of rows)
        connection.run(sql.addIdempotency, { ...row, projectId, created_at: now - age_ms });
    });
  }

  removeSessions(projectId: string, sessionIds: readonly string[]): Promise<void> {
    return this.#write((connection) => {
      for (const session_id of sessionIds) {
        const row = connection.get<{ id: number }>(sql.find, { projectId, session_id });
        if (row === undefined) continue;
        for (const statement of sql.remove) connection.run(statement, { session: row.id });
      }
    });
  }

  copyNote(): Promise<string | null> {
    return this.#access.read((connection) => connection.get<{ value: string }>(sql.note)?.value ?? null);
  }

  setCopyNote(note: string): Promise<void> {
    return this.#write((connection) => {
      connection.run(sql.setNote, { note });
    });
  }

  close(): Promise<void> {
    return this.#access.close();
  }

  #write(work: (connection: Connection) => void): Promise<void> {
    return this.#access.run(() => this.#access.writer.writeAlone(() => work(this.#access.connection)));
  }
}

function readParts(connection: Connection, projectId: string, from: PartPlace | null): PartPage {
  let settingsLeft: number = pageLimits.textBytes;
  const heads = connection.allWhile<HeadRow>(
    from?.message == null ? sql.headsBehind : sql.headsFrom,
    { projectId, place: from?.session_id ?? '', limit: pageLimits.sessions },
    (head) => {
      settingsLeft -= settingsBytes(head);
      return settingsLeft >= 0;
    },
  );
  const parts: SessionPart[] = [];
  let messagesLeft: number = pageLimits.messages;
  let bytesLeft: number = pageLimits.textBytes;
  for (const { id, ...head } of heads) {
    const session = { ...head, pinned: head.pinned === 1, archived: head.archived === 1 };
    const begin = session.session_id === from?.session_id ? from.message : null;
    let next: PartPlace | null = null;
    const rows = connection.allWhile<StoredMessage>(
      sql.messages,
      { session: id, ...(begin ?? firstMessage) },
      ({ content, position, message_id }) => {
        if (messagesLeft === 0 || bytesLeft <= 0)
          next = { session_id: session.session_id, message: { position, message_id } };
        messagesLeft -= 1;
        bytesLeft -= content.length;
        return next === null;
      },
    );
    if (next === null || rows.length > 0)
      parts.push({
        session,
        messages: rows.map(({ copied, ...row }) => ({ ...row, is_copy: copied !== null })),
      });
    if (next !== null) return { parts, next };
  }
  const isLast = heads.length < pageLimits.sessions && settingsLeft >= 0;
  const last = isLast ? undefined : heads.at(-1);
  return { parts, next: last === undefined ? null : { session_id: last.session_id, message: null } };
}
