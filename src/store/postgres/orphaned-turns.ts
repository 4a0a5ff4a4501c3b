// Turns of this server that no call runs: their beginning or end failed because the database gave no answer. The beat of the server would
// hold them for as long as it lives, so it gives them back when the database answers again.
import type { RegenerationStart, Turn, TurnBegin, TurnStart } from '../session-store.ts';
import { columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import type { refused } from './keys.ts';
import { statement } from './statement.ts';

interface Left {
  readonly projectId: string;
  readonly sessionId: string;
  /** Of the message whose turn it is; null for a regeneration, whose message is not known. */
  readonly messageId: string | null;
  /** Of a message that may have been asked again. */
  readonly key: string | null;
  /** How often the turn was looked for in vain, and the beat of the next look. */
  readonly looks: number;
  readonly due: number;
}

interface StandingLeft {
  readonly number: number;
  readonly session_id: string;
  readonly turn_epoch: number;
}

/** Of one statement. */
const lot = 500;
/** More are not kept: the oldest are forgotten. */
const maxLeft = 100_000;
/** An abandoned statement may still wait for a lock. Its turn is looked for after 1, 2, 4 … beats, for some 12 minutes in all. */
const maxLooks = 9;

const findLeft = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, projects.id AS project
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[])
      AS input (number, project_id, session_id, message_id, key)
    JOIN parley.projects USING (project_id)
  ), place AS (
    SELECT input.number, input.message_id, named.id, NULL::integer AS position, input.message_id IS NULL AS is_any
    FROM input JOIN parley.sessions AS named ON named.project = input.project AND named.session_id = input.session_id
    UNION ALL
    SELECT input.number, input.message_id, known.session, known.position, false
    FROM input JOIN parley.idempotency AS known ON known.project = input.project AND known.key = input.key
  )
  SELECT place.number, session.session_id, session.turn_epoch
  FROM place
  JOIN parley.sessions AS session ON session.id = place.id
  LEFT JOIN parley.messages AS asked ON asked.session = session.id AND asked.position = session.turn_position
  WHERE session.turn_owner = $6 AND (
    place.is_any OR asked.message_id = place.message_id OR session.turn_position = place.position)`);
// An owner that is no server: the lease of the turn itself counts then, and that is over.
const leave = statement(`
  UPDATE parley.sessions AS session SET turn_owner = turn_owner || ' left', turn_until = '-infinity'
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::integer[]) AS input (number, project_id, session_id, epoch)
  JOIN parley.projects USING (project_id)
  WHERE session.project = projects.id AND session.session_id = input.session_id AND session.turn_owner = $5
    AND session.turn_epoch = input.epoch`);

const fresh = { looks: 0, due: 0 };

export class OrphanedTurns {
  readonly #ask: Ask;
  readonly #owner: string;
  readonly #beginning = new Set<TurnStart | RegenerationStart>();
  /** Sessions and epochs of the turns that this process runs. */
  readonly #running = new Set<string>();
  #left: Left[] = [];
  #isGivingBack = false;
  #beats = 0;

  constructor(ask: Ask, owner: string) {
    this.#ask = ask;
    this.#owner = owner;
  }

  async followBegin(
    projectId: string,
    start: TurnStart | RegenerationStart,
    begin: Promise<TurnBegin | typeof refused>,
  ): Promise<TurnBegin | typeof refused> {
    this.#beginning.add(start);
    try {
      const begun = await begin;
      if (typeof begun === 'object' && begun.kind === 'begun') this.#running.add(nameOf(begun.turn));
      return begun;
    } catch (error) {
      const isNew = 'message_id' in start;
      const sessionId = start.session_id ?? (isNew ? start.newSession.session_id : '');
      this.#add({
        projectId,
        sessionId,
        messageId: isNew ? start.message_id : null,
        key: start.idempotencyKey?.key ?? null,
        ...fresh,
      });
      throw error;
    } finally {
      this.#beginning.delete(start);
    }
  }

  async followEnd<T>(projectId: string, turn: Turn, end: Promise<T>): Promise<T> {
    try {
      return await end;
    } catch (error) {
      const { session_id: sessionId, message_id: messageId } = turn;
      this.#add({ projectId, sessionId, messageId, key: null, ...fresh });
      throw error;
    } finally {
      this.#running.delete(nameOf(turn));
    }
  }

  /** After each beat. Rejects where the database gives no answer; what is left then is tried after the next. */
  async giveBack(): Promise<void> {
    if (this.#isGivingBack) return;
    this.#isGivingBack = true;
    this.#beats += 1;
    try {
      const waiting = this.#left.filter(({ due }) => due <= this.#beats);
      for (let at = 0; at < waiting.length; at += lot) await this.#giveBackLot(waiting.slice(at, at + lot));
    } finally {
      this.#isGivingBack = false;
    }
  }

  async #giveBackLot(left: readonly Left[]): Promise<void> {
    const values = columnsOf(
      left,
      ({ projectId }) => projectId,
      ({ sessionId }) => sessionId,
      ({ messageId }) => messageId,
      ({ key }) => key,
    );
    const standing = await this.#ask<StandingLeft>(findLeft, [...values, this.#owner]);
    const later = new Set(left.filter((one) => this.#mayBegin(one)));
    const abandoned = standing.flatMap(({ number, session_id, turn_epoch: epoch }) => {
      const one = left[number] as Left;
      if (later.has(one) || this.#running.has(nameOf({ session_id, epoch }))) return [];
      return [{ projectId: one.projectId, session_id, epoch }];
    });
    const turns = columnsOf(
      abandoned,
      ({ projectId }) => projectId,
      ({ session_id }) => session_id,
      ({ epoch }) => epoch,
    );
    if (abandoned.length > 0) await this.#ask(leave, [...turns, this.#owner]);
    const stood = new Set(standing.map(({ number }) => left[number]));
    const looked = new Set(left.filter((one) => !later.has(one)));
    this.#left = this.#left.flatMap((one) => {
      if (!looked.has(one)) return [one];
      if (stood.has(one) || one.looks >= maxLooks) return [];
      return [{ ...one, looks: one.looks + 1, due: this.#beats + 2 ** one.looks }];
    });
  }

  /** Whether a call is on its way that may be about to learn that it has begun this turn. */
  #mayBegin({ sessionId, key }: Left): boolean {
    return [...this.#beginning].some(
      ({ session_id, idempotencyKey }) =>
        session_id === sessionId || (key !== null && idempotencyKey?.key === key),
    );
  }

  #add(left: Left): void {
    this.#left.push(left);
    if (this.#left.length > maxLeft) this.#left.shift();
  }
}

function nameOf({ session_id, epoch }: Pick<Turn, 'session_id' | 'epoch'>): string {
  return `${session_id} ${epoch}`;
}
