// A session that is written, or erased, in several transactions, so that other writes run in between. Until the last transaction it is
// unlisted: it has a random id and belongs to a project without keys. The table `imports` names it. If its process ends, another process
// finds the entry after `held_until` and removes the session.
import { ParleyError } from '../../service/errors.ts';
import { longestLeaseMs } from '../session-store.ts';
import type { Clocks } from './age-clock.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { importedColumns, importedValues } from './imported-rows.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { keepTags } from './ordering.ts';
import { StepMeter, type Steps } from './steps.ts';
import type { Writer } from './writer.ts';

/** The ids of sessions that are being removed begin with this, so that a purge tells them from those that are being stored. */
const removed = 'removed/';
const newToken = `'${removed}' || lower(hex(randomblob(16)))`;
const stillHidden = 'id = @session AND project = 0 AND session_id = @token';

const partedStatements = {
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
  removed: `
    SELECT session, held_until, session_id AS token FROM imports CROSS JOIN sessions ON sessions.id = imports.session
    WHERE sessions.project = 0 AND session_id GLOB '${removed}*' LIMIT 1`,
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

interface Unlisted {
  readonly session: number;
  /** Distinguishes this session from a later one with the same row number. */
  readonly token: string;
}

interface AbandonedRow extends Unlisted {
  readonly held_until: number;
}

export interface PartedTools {
  readonly connection: Connection;
  /** Called in each step, because a step may wait for a lock. */
  readonly clocks: () => Clocks;
}

export class PartedSession {
  readonly #tools: PartedTools;
  readonly #projectId: string;
  #unlisted: Unlisted | null = null;

  constructor(tools: PartedTools, projectId: string) {
    this.#tools = tools;
    this.#projectId = projectId;
  }

  /** Makes the unlisted session, with the values of `importedColumns`. Returns its row number. */
  begin(values: Bindings): number {
    const { connection } = this.#tools;
    connection.run(partedStatements.hiddenProject);
    const unlisted = connection.get<Unlisted>(partedStatements.hide, values) as Unlisted;
    const { session } = unlisted;
    connection.run(partedStatements.hold, { session, projectId: this.#projectId, until: this.#until() });
    this.#unlisted = unlisted;
    return session;
  }

  /** Call it at the begin of each later step. Throws `STORE_BUSY` if the session is lost, because it was not held in time. */
  hold(): void {
    if (!this.#renew()) throw tookTooLong();
  }

  /** Lists the session under its id. Call it in the last step. If that step fails, `takeBack` still removes the session. */
  list(sessionId: string): void {
    const { session, token } = this.#unlisted as Unlisted;
    this.#tools.connection.run(partedStatements.show, { session, token, sessionId });
    keepTags(this.#tools.connection, session);
    this.#tools.connection.run(partedStatements.release, { session });
  }

  /** Removes the unlisted session, if there is one. */
  *takeBack(): Steps<void> {
    const unlisted = this.#unlisted;
    if (unlisted === null) return;
    const isHeld = this.#renew();
    this.#unlisted = null;
    if (isHeld) yield* removeUnlisted(this.#tools.connection, unlisted);
  }

  /** False if another process removed the session, because it was not renewed in time. */
  #renew(): boolean {
    const bindings = { ...(this.#unlisted as Unlisted), until: this.#until() };
    return this.#tools.connection.run(partedStatements.renew, bindings).changes === 1;
  }

  #until(): number {
    return leaseEnd(this.#tools.clocks().clock, longestLeaseMs);
  }
}

/** Removes the hidden sessions that unfinished imports, forks and purges of ended processes have left. The next call repeats what fails here. */
export async function removeAbandoned(
  { connection, writer }: { readonly connection: Connection; readonly writer: Writer },
  clock: number,
): Promise<void> {
  try {
    for (const row of connection.all<AbandonedRow>(partedStatements.all)) {
      if (isLeaseOver(row.held_until, clock)) await writer.writeInParts(removeClaimed(connection, row));
    }
  } catch {}
}

/** Removes what purges have left that were stopped within a session, also if another purge is at work on it. */
export function* removeLeft(connection: Connection): Steps<void> {
  for (;;) {
    const row = connection.get<AbandonedRow>(partedStatements.removed);
    if (row === undefined) return;
    yield* removeClaimed(connection, row);
  }
}

function* removeClaimed(connection: Connection, row: AbandonedRow): Steps<void> {
  const unlisted = connection.get<Unlisted>(partedStatements.claim, { ...row });
  if (unlisted !== undefined) yield* removeUnlisted(connection, unlisted);
}

/** Each step checks that the row number still belongs to this session, because another process may remove the session at the same time. */
function* removeUnlisted(connection: Connection, unlisted: Unlisted, step = new StepMeter()): Steps<void> {
  const { session } = unlisted;
  while (connection.get(partedStatements.find, { ...unlisted }) !== undefined) {
    yield* step.next();
    if (connection.run(partedStatements.removeMessage, { session }).changes > 0) continue;
    if (connection.run(partedStatements.removeHiddenMessage, { session }).changes > 0) continue;
    connection.run(partedStatements.release, { session });
    connection.run(partedStatements.remove, { session });
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
  connection.run(partedStatements.hiddenProject);
  const until = () => leaseEnd(clock(), longestLeaseMs);
  connection.run(partedStatements.holdForGood, { session, until: until() });
  const unlisted = connection.get<Unlisted>(partedStatements.hideForGood, { session }) as Unlisted;
  for (const _ of removeUnlisted(connection, unlisted, step)) {
    connection.run(partedStatements.renew, { ...unlisted, until: until() });
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
