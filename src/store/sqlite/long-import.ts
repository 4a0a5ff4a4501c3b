// Imports a long session in several transactions, so that other writes run in between. Until the last transaction the session is hidden: it
// has a random id and belongs to a project without keys. The table `imports` names it. If its process ends, another process finds the entry
// after `held_until` and removes the session.
import { ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { type IdempotencyKey, type Idempotent, longestLeaseMs } from '../session-store.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import { findRecorded, type IdempotencyTools, keepAnswer } from './idempotency.ts';
import {
  addImportedMessage,
  importBindings,
  importedColumns,
  importedValues,
  sameSession,
} from './imports.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { findSession, sessionStatements } from './sessions.ts';
import { StepMeter, type Steps } from './steps.ts';
import type { Writer } from './writer.ts';

/** How many messages, and how many UTF-16 units of their texts, one transaction takes: a few milliseconds' work. */
const messagesOfPart = 250;
const unitsOfPart = 256 * 1024;

const stillHidden = 'id = @session AND project = 0 AND session_id = @token';

export const longImportStatements = {
  hiddenProject: `INSERT INTO projects (id, project_id, name, created_at) VALUES (0, '', '', 0) ON CONFLICT DO NOTHING`,
  hide: `
    INSERT INTO sessions (session_id, project, ${importedColumns})
    VALUES (lower(hex(randomblob(16))), 0, ${importedValues})
    RETURNING id AS session, session_id AS token`,
  hold: `INSERT INTO imports (session, project, held_until)
    VALUES (@session, (SELECT id FROM projects WHERE project_id = @projectId), @until)`,
  renew: `UPDATE imports SET held_until = @until
    WHERE session = @session AND EXISTS (SELECT 1 FROM sessions WHERE ${stillHidden})`,
  show: `UPDATE sessions SET project = (SELECT project FROM imports WHERE session = @session), session_id = @sessionId
    WHERE ${stillHidden}`,
  release: 'DELETE FROM imports WHERE session = @session',
  all: `SELECT session, held_until, session_id AS token FROM imports CROSS JOIN sessions ON sessions.id = imports.session`,
  // From here on, another process that worked on the session has an outdated token.
  claim: `UPDATE sessions SET session_id = lower(hex(randomblob(16)))
    WHERE ${stillHidden} AND EXISTS (SELECT 1 FROM imports WHERE session = @session AND held_until = @held_until)
    RETURNING id AS session, session_id AS token`,
  find: `SELECT 1 FROM sessions WHERE ${stillHidden}`,
  holdForGood: `INSERT INTO imports (session, project, held_until)
    SELECT id, project, @until FROM sessions WHERE id = @session`,
  hideForGood: `UPDATE sessions SET project = 0, session_id = lower(hex(randomblob(16))), deleted_at = NULL
    WHERE id = @session RETURNING id AS session, session_id AS token`,
  removeMessage: 'DELETE FROM messages WHERE id = (SELECT id FROM messages WHERE session = @session LIMIT 1)',
  remove: 'DELETE FROM sessions WHERE id = @session AND project = 0',
} as const;

export interface LongImportTools extends Pick<IdempotencyTools, 'connection' | 'rules'> {
  /** Called in each step, because a step may wait for a lock. */
  readonly clocks: () => Clocks;
}

interface ImportRequest {
  readonly projectId: string;
  readonly record: SessionRecord;
  readonly once: IdempotencyKey | null;
}

interface Hidden {
  readonly session: number;
  /** Distinguishes this session from a later one with the same row number. */
  readonly token: string;
}

/** True if the session is imported in one transaction. */
export function isShort({ messages }: SessionRecord): boolean {
  return [...partsOf(messages)].length <= 1;
}

interface ImportRow extends Hidden {
  readonly held_until: number;
}

/**
 * Imports a long session. The value is null if another session has the id. Rejects with `STORE_BUSY` if a step waited for over a
 * minute.
 */
export async function importInParts(
  writer: Writer,
  tools: LongImportTools,
  request: ImportRequest,
): Promise<Idempotent<Session | null>> {
  await removeAbandoned({ connection: tools.connection, writer }, tools.clocks().clock);
  const long = new LongImport(tools, request);
  try {
    return await writer.writeInParts(long.steps(), request.projectId);
  } catch (error) {
    await writer.writeInParts(long.takeBack(), request.projectId).catch(() => {});
    throw error;
  }
}

class LongImport {
  readonly #tools: LongImportTools;
  readonly #projectId: string;
  readonly #record: SessionRecord;
  readonly #once: IdempotencyKey | null;
  #hidden: Hidden | null = null;

  constructor(tools: LongImportTools, { projectId, record, once }: ImportRequest) {
    this.#tools = tools;
    this.#projectId = projectId;
    this.#record = record;
    this.#once = once;
  }

  /** Each step is one transaction. The value is null if another session has the id. */
  *steps(): Steps<Idempotent<Session | null>> {
    const { connection } = this.#tools;
    const recorded = this.#recorded();
    if (recorded !== null) return recorded;
    if (!this.#isTaken()) {
      yield* this.#hide();
      // Other processes have written since the first step.
      const repeated = this.#recorded();
      if (repeated === null && !this.#isTaken()) return this.#keep(this.#show());
      yield* this.takeBack();
      if (repeated !== null) return repeated;
    }
    const same = yield* sameSession(connection, this.#projectId, this.#record, this.#tools.rules);
    return this.#recorded() ?? this.#keep(same);
  }

  /** Removes the hidden session after a failure. */
  *takeBack(): Steps<void> {
    const hidden = this.#hidden;
    this.#hidden = null;
    if (hidden !== null && this.#renew(hidden)) yield* removeHidden(this.#tools.connection, hidden);
  }

  *#hide(): Steps<void> {
    const { connection, clocks } = this.#tools;
    connection.run(longImportStatements.hiddenProject);
    const bindings = importBindings(this.#record);
    const hidden = connection.get<Hidden>(longImportStatements.hide, bindings) as Hidden;
    const { session } = hidden;
    const until = leaseEnd(clocks().clock, longestLeaseMs);
    connection.run(longImportStatements.hold, { session, projectId: this.#projectId, until });
    this.#hidden = hidden;
    for (const part of partsOf(this.#record.messages)) {
      yield;
      if (!this.#renew(hidden)) throw tookTooLong(this.#record.session.session_id);
      for (const message of part) addImportedMessage(connection, session, message);
    }
  }

  /** False if another process removed the session, because it was not renewed in time. */
  #renew({ session, token }: Hidden): boolean {
    const until = leaseEnd(this.#tools.clocks().clock, longestLeaseMs);
    return this.#tools.connection.run(longImportStatements.renew, { session, token, until }).changes === 1;
  }

  #show(): Session | null {
    const { connection } = this.#tools;
    const { session, token } = this.#hidden as Hidden;
    const sessionId = this.#record.session.session_id;
    connection.run(longImportStatements.show, { session, token, sessionId });
    connection.run(longImportStatements.release, { session });
    return findSession(connection, this.#projectId, sessionId);
  }

  #isTaken(): boolean {
    const bindings = { projectId: this.#projectId, sessionId: this.#record.session.session_id };
    return this.#tools.connection.get(sessionStatements.holds, bindings) !== undefined;
  }

  #recorded(): Idempotent<Session | null> | null {
    return this.#once && findRecorded<Session | null>(this.#idempotency(), this.#projectId, this.#once);
  }

  #keep(value: Session | null): Idempotent<Session | null> {
    return keepAnswer(this.#idempotency(), this.#projectId, this.#once, value);
  }

  #idempotency(): IdempotencyTools {
    const { clocks, ...tools } = this.#tools;
    return { ...tools, ...clocks() };
  }
}

/** Removes the hidden sessions that unfinished imports and purges of ended processes have left. The next call repeats what fails here. */
export async function removeAbandoned(
  { connection, writer }: { readonly connection: Connection; readonly writer: Writer },
  clock: number,
): Promise<void> {
  try {
    for (const row of connection.all<ImportRow>(longImportStatements.all)) {
      if (isLeaseOver(row.held_until, clock)) await writer.writeInParts(removeClaimed(connection, row));
    }
  } catch {}
}

function* removeClaimed(connection: Connection, row: ImportRow): Steps<void> {
  const hidden = connection.get<Hidden>(longImportStatements.claim, { ...row });
  if (hidden !== undefined) yield* removeHidden(connection, hidden);
}

/** Each step checks that the row number still belongs to this session, because another process may remove the session at the same time. */
function* removeHidden(connection: Connection, hidden: Hidden, step = new StepMeter()): Steps<void> {
  const { session } = hidden;
  while (connection.get(longImportStatements.find, { ...hidden }) !== undefined) {
    yield* step.next();
    if (connection.run(longImportStatements.removeMessage, { session }).changes > 0) continue;
    connection.run(longImportStatements.release, { session });
    connection.run(longImportStatements.remove, { session });
  }
}

/**
 * Removes a stored session. No query finds it from the first step on. If this process ends early, another removes it as an abandoned
 * import.
 */
export function* removeInSteps(
  connection: Connection,
  session: number,
  clock: () => number,
  step: StepMeter,
): Steps<void> {
  connection.run(longImportStatements.hiddenProject);
  const until = () => leaseEnd(clock(), longestLeaseMs);
  connection.run(longImportStatements.holdForGood, { session, until: until() });
  const hidden = connection.get<Hidden>(longImportStatements.hideForGood, { session }) as Hidden;
  for (const _ of removeHidden(connection, hidden, step)) {
    connection.run(longImportStatements.renew, { ...hidden, until: until() });
    yield;
  }
}

function* partsOf(messages: SessionRecord['messages']): Generator<SessionRecord['messages']> {
  let begin = 0;
  let units = 0;
  for (let index = 0; index < messages.length; index += 1) {
    const { length } = messages[index]?.content ?? '';
    const isFull = index - begin === messagesOfPart || units + length > unitsOfPart;
    if (index > begin && isFull) {
      yield messages.slice(begin, index);
      begin = index;
      units = 0;
    }
    units += length;
  }
  yield messages.slice(begin);
}

function tookTooLong(sessionId: string): ParleyError {
  return new ParleyError('STORE_BUSY', `The import of ${sessionId} was held up for more than a minute.`, {
    hint: 'Nothing of this session was kept. Import it again.',
  });
}
