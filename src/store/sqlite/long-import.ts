// Imports a long session in several transactions (staged-session.ts), so that other writes run in between.
import type { Message, Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { isCopy } from '../imported-session.ts';
import type { IdempotencyKey, Idempotent } from '../session-store.ts';
import { findRecorded, keepAnswer, type StepTools, toolsNow } from './idempotency.ts';
import { addImportedMessages, importBindings } from './imported-rows.ts';
import { type AuditChange, growSession, sameSession } from './imports.ts';
import { findSession, sessionStatements } from './sessions.ts';
import { removeAbandoned, StagedSession } from './staged-session.ts';
import type { Steps } from './steps.ts';
import type { Writer } from './writer.ts';

/** How many messages, and how many UTF-16 units of their texts, one transaction takes: a few milliseconds' work. */
export const partLimits = { messages: 250, units: 256 * 1024 } as const;

interface ImportRequest {
  readonly projectId: string;
  readonly record: SessionRecord;
  readonly idempotencyKey: IdempotencyKey | null;
  readonly audit: AuditChange;
}

/** True if the session is imported in one transaction. A replacement, which must compare all messages at one moment, always is. */
export function isShort(record: SessionRecord): boolean {
  return record.replaces !== undefined || [...partsOf(everyMessage(record))].length <= 1;
}

/**
 * Imports a long session. The value is null if another session has the id. Rejects with `STORE_BUSY` if a step waited for over a
 * minute.
 */
export async function importInParts(
  writer: Writer,
  tools: StepTools,
  request: ImportRequest,
): Promise<Idempotent<Session | null>> {
  await removeAbandoned({ connection: tools.connection, writer }, tools.clocks().clock);
  const long = new LongImport(tools, request);
  try {
    return await writer.writeInParts(long.steps(), request.projectId);
  } catch (error) {
    await writer.writeInParts(long.discard(), request.projectId).catch(() => {});
    throw error;
  }
}

class LongImport {
  readonly #tools: StepTools;
  readonly #projectId: string;
  readonly #record: SessionRecord;
  readonly #key: IdempotencyKey | null;
  readonly #audit: AuditChange;
  readonly #staged: StagedSession;

  constructor(tools: StepTools, { projectId, record, idempotencyKey, audit }: ImportRequest) {
    this.#tools = tools;
    this.#audit = audit;
    this.#projectId = projectId;
    this.#record = record;
    this.#key = idempotencyKey;
    this.#staged = new StagedSession(tools, projectId);
  }

  /** Each step is one transaction. The value is null if another session has the id. */
  *steps(): Steps<Idempotent<Session | null>> {
    const { connection, rules } = this.#tools;
    const recorded = this.#recorded();
    if (recorded !== null) return recorded;
    if (!this.#isTaken()) {
      yield* this.#store();
      // Other processes have written since the first step.
      const repeated = this.#recorded();
      if (repeated === null && !this.#isTaken()) return this.#keep(this.#audit(this.#list()));
      yield* this.discard();
      if (repeated !== null) return repeated;
    }
    const same = yield* sameSession(connection, this.#projectId, this.#record, rules);
    const repeated = this.#recorded();
    if (repeated !== null) return repeated;
    return this.#keep(
      same ?? this.#audit(growSession(connection, this.#projectId, this.#record, this.#now())),
    );
  }

  /** Removes the stored part after a failure. */
  *discard(): Steps<void> {
    yield* this.#staged.discard();
  }

  *#store(): Steps<void> {
    const session = this.#staged.begin(importBindings(this.#record, this.#now()));
    for (const part of partsOf(everyMessage(this.#record))) {
      yield;
      this.#staged.hold();
      addImportedMessages(this.#tools.connection, session, part, (message) => isCopy(this.#record, message));
    }
  }

  #list(): Session | null {
    const sessionId = this.#record.session.session_id;
    this.#staged.list(sessionId);
    return findSession(this.#tools.connection, this.#projectId, sessionId);
  }

  #now(): number {
    return this.#tools.clocks().now;
  }

  #isTaken(): boolean {
    const bindings = { projectId: this.#projectId, sessionId: this.#record.session.session_id };
    return this.#tools.connection.get(sessionStatements.holds, bindings) !== undefined;
  }

  #recorded(): Idempotent<Session | null> | null {
    return this.#key && findRecorded<Session | null>(toolsNow(this.#tools), this.#projectId, this.#key);
  }

  #keep(value: Session | null): Idempotent<Session | null> {
    return keepAnswer(toolsNow(this.#tools), this.#projectId, this.#key, value);
  }
}

function everyMessage({ messages, hidden_messages = [] }: SessionRecord): readonly Message[] {
  return [...messages, ...hidden_messages];
}

function* partsOf(messages: readonly Message[]): Generator<readonly Message[]> {
  let begin = 0;
  let units = 0;
  for (let index = 0; index < messages.length; index += 1) {
    const { length } = messages[index]?.content ?? '';
    const isFull = index - begin === partLimits.messages || units + length > partLimits.units;
    if (index > begin && isFull) {
      yield messages.slice(begin, index);
      begin = index;
      units = 0;
    }
    units += length;
  }
  yield messages.slice(begin);
}
