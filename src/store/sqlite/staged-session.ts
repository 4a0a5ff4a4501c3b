// A session that is written, or erased, in several transactions, so that other writes run in between. Until the last transaction it is
// staged: it has a random id and belongs to a project without keys. The table `imports` names it. If its process ends, another process
// finds the entry after `held_until` and removes the session.
import { ParleyError } from '../../service/errors.ts';
import { longestLeaseMs } from '../session-store.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { importedColumns, importedValues } from './imported-rows.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { keepTags } from './ordering.ts';
import { projectNumber } from './sessions.ts';
import { StepMeter, type Steps } from './steps.ts';
import type { Writer } from './writer.ts';

/** The ids of sessions that are being removed begin with this, so that a purge can distinguish them from those that are being stored. */
const removedPrefix = 'removed/';
const newToken = `'${removedPrefix}' || lower(hex(randomblob(16)))`;
const stillHidden = 'id = @session AND project = 0 AND session_id = @token';

const stagingStatements = {
  hiddenProject: `INSERT INTO projects (id, project_id, name, created_at) VALUES (0, '', '', 0) ON CONFLICT DO NOTHING`,
  hide: `
    INSERT INTO sessions (session_id, project, ${importedColumns})
    VALUES (lower(hex(randomblob(16))), 0, ${importedValues})
    RETURNING id AS session, session_id AS token`,
  hold: `INSERT INTO imports (session, project, held_until)
    VALUES (@session, ${projectNumber}, @until)`,
  renew: `UPDATE imports SET held_until = @until
    WHERE session = @session AND EXISTS (SELECT 1 FROM sessions WHERE ${stillHidden})`,
  show: `UPDATE sessions SET project = (SELECT project FROM imports WHERE session = @session), session_id = @sessionId
    WHERE ${stillHidden}`,
  release: 'DELETE FROM imports WHERE session = @session',
  all: `SELECT session, held_until, session_id AS token FROM imports CROSS JOIN sessions ON sessions.id = imports.session`,
  nextRemoved: `
    SELECT session, held_until, session_id AS token FROM imports CROSS JOIN sessions ON sessions.id = imports.session
    WHERE sessions.project = 0 AND session_id GLOB '${removedPrefix}*' LIMIT 1`,
  // From here on, another process that worked on the session has an outdated token.
  claim: `UPDATE sessions SET session_id = ${newToken}
    WHERE ${stillHidden} AND EXISTS (SELECT 1 FROM imports WHERE session = @session AND held_until = @held_until)
    RETURNING id AS session, session_id AS token`,
  find: `SELECT 1 FROM sessions WHERE ${stillHidden}`,
  holdForGood: `INSERT INTO imports (session, project, held_until)
    SELECT id, project, @until FROM sessions WHERE id = @session`,
  hideForGood: `UPDATE sessions SET project = 0, session_id = ${newToken}, deleted_at = NULL
    WHERE id = @session RETURNING id AS session, session_id AS token`,
  removeMessage: 'DELETE FROM messages WHERE id = (SELECT id FROM messages WHERE session = @session LIMIT 1)',
  removeHiddenMessage:
    'DELETE FROM hidden_messages WHERE id = (SELECT id FROM hidden_messages WHERE session = @session LIMIT 1)',
  remove: 'DELETE FROM sessions WHERE id = @session AND project = 0',
} as const;

interface StagedRow {
  readonly session: number;
  /** Distinguishes this session from a later one with the same row number. */
  readonly token: string;
}

interface AbandonedRow extends StagedRow {
  readonly held_until: number;
}

interface StagingTools {
  readonly connection: Connection;
  /** Called in each step, because a step may wait for a lock. */
  readonly clocks: () => Clocks;
}

export class StagedSession {
  readonly #tools: StagingTools;
  readonly #projectId: string;
  #staged: StagedRow | null = null;

  constructor(tools: StagingTools, projectId: string) {
    this.#tools = tools;
    this.#projectId = projectId;
  }

  /** Makes the staged session, with the values of `importedColumns`. Returns its row number. */
  begin(values: Bindings): number {
    const { connection } = this.#tools;
    connection.run(stagingStatements.hiddenProject);
    const staged = connection.get<StagedRow>(stagingStatements.hide, values) as StagedRow;
    const { session } = staged;
    connection.run(stagingStatements.hold, { session, projectId: this.#projectId, until: this.#until() });
    this.#staged = staged;
    return session;
  }

  /** Call it at the begin of each later step. Throws `STORE_BUSY` if the session is lost, because it was not held in time. */
  hold(): void {
    if (!this.#renew()) throw tookTooLong();
  }

  /** Lists the session under its id. Call it in the last step. If that step fails, `discard` still removes the session. */
  list(sessionId: string): void {
    const { session, token } = this.#staged as StagedRow;
    this.#tools.connection.run(stagingStatements.show, { session, token, sessionId });
    keepTags(this.#tools.connection, session);
    this.#tools.connection.run(stagingStatements.release, { session });
  }

  /** Removes the staged session, if there is one. */
  *discard(): Steps<void> {
    const staged = this.#staged;
    if (staged === null) return;
    const isHeld = this.#renew();
    this.#staged = null;
    if (isHeld) yield* removeStaged(this.#tools.connection, staged);
  }

  /** False if another process removed the session, because it was not renewed in time. */
  #renew(): boolean {
    const bindings = { ...(this.#staged as StagedRow), until: this.#until() };
    return this.#tools.connection.run(stagingStatements.renew, bindings).changes === 1;
  }

  #until(): number {
    return leaseEnd(this.#tools.clocks().clock, longestLeaseMs);
  }
}

/**
 * Removes the hidden sessions that unfinished imports, forks and purges of ended processes have left. The next call repeats what fails
 * here.
 */
export async function removeAbandoned(
  { connection, writer }: { readonly connection: Connection; readonly writer: Writer },
  clock: number,
): Promise<void> {
  try {
    for (const row of connection.all<AbandonedRow>(stagingStatements.all)) {
      if (isLeaseOver(row.held_until, clock)) await writer.writeInParts(removeClaimed(connection, row));
    }
  } catch {}
}

/** Removes the sessions that stopped purges have left in part, also if another purge removes them at the same time. */
export function* removeLeft(connection: Connection): Steps<void> {
  for (;;) {
    const row = connection.get<AbandonedRow>(stagingStatements.nextRemoved);
    if (row === undefined) return;
    yield* removeClaimed(connection, row);
  }
}

function* removeClaimed(connection: Connection, row: AbandonedRow): Steps<void> {
  const staged = connection.get<StagedRow>(stagingStatements.claim, { ...row });
  if (staged !== undefined) yield* removeStaged(connection, staged);
}

/** Each step checks that the row number still belongs to this session, because another process may remove the session at the same time. */
function* removeStaged(connection: Connection, staged: StagedRow, step = new StepMeter()): Steps<void> {
  const { session } = staged;
  while (connection.get(stagingStatements.find, { ...staged }) !== undefined) {
    yield* step.next();
    if (connection.run(stagingStatements.removeMessage, { session }).changes > 0) continue;
    if (connection.run(stagingStatements.removeHiddenMessage, { session }).changes > 0) continue;
    connection.run(stagingStatements.release, { session });
    connection.run(stagingStatements.remove, { session });
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
  connection.run(stagingStatements.hiddenProject);
  const until = () => leaseEnd(clock(), longestLeaseMs);
  connection.run(stagingStatements.holdForGood, { session, until: until() });
  const staged = connection.get<StagedRow>(stagingStatements.hideForGood, { session }) as StagedRow;
  for (const _ of removeStaged(connection, staged, step)) {
    connection.run(stagingStatements.renew, { ...staged, until: until() });
    yield;
  }
}

function tookTooLong(): ParleyError {
  return new ParleyError(
    'STORE_BUSY',
    'The session was held up for more than a minute while it was stored.',
    {
      hint: 'Nothing of it was kept. Try again.',
    },
  );
}
