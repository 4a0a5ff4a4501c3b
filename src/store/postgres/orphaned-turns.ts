// Turns of this server that no call runs: their beginning or end failed because the database gave no answer. The heartbeat of the server
// holds all of its turns as long as the server lives, so these turns are given back when the database answers again.
import {
  type RegenerationStart,
  type Turn,
  type TurnBegin,
  type TurnStart,
  turnName,
} from '../session-store.ts';
import { columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import type { refused } from './keys.ts';
import { statement } from './statement.ts';

interface Orphan {
  readonly projectId: string;
  readonly sessionId: string;
  /** The id of the message whose turn it is; null for a regeneration, whose message is not known. */
  readonly messageId: string | null;
  /** The idempotency key, whose message an earlier call may have stored; null without a key. */
  readonly key: string | null;
  /** How often the turn was looked for and not found, and the number of the heartbeat of the next look. */
  readonly looks: number;
  readonly due: number;
}

interface FoundTurn {
  readonly number: number;
  readonly session_id: string;
  readonly turn_epoch: number;
}

/** How many turns one statement looks for. */
const turnsAtOnce = 500;
/** If there are more, the oldest are forgotten. */
const maxOrphans = 100_000;
/** An abandoned statement may still wait for a lock. Its turn is looked for after 1, 2, 4 … beats, for some 12 minutes in all. */
const maxLooks = 9;

const findTurns = statement(`
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
// The new owner is no server, so the lease of the turn itself counts, and it is over.
const giveBack = statement(`
  UPDATE parley.sessions AS session SET turn_owner = turn_owner || ' left', turn_until = '-infinity'
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::integer[]) AS input (number, project_id, session_id, epoch)
  JOIN parley.projects USING (project_id)
  WHERE session.project = projects.id AND session.session_id = input.session_id AND session.turn_owner = $5
    AND session.turn_epoch = input.epoch`);

const notLookedFor = { looks: 0, due: 0 };

export class OrphanedTurns {
  readonly #ask: Ask;
  readonly #owner: string;
  readonly #beginning = new Set<TurnStart | RegenerationStart>();
  /** Sessions and epochs of the turns that this process runs. */
  readonly #running = new Set<string>();
  #orphans: Orphan[] = [];
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
      if (typeof begun === 'object' && begun.kind === 'begun') this.#running.add(turnName(begun.turn));
      return begun;
    } catch (error) {
      const isNew = 'message_id' in start;
      const sessionId = start.session_id ?? (isNew ? start.newSession.session_id : '');
      this.#add({
        projectId,
        sessionId,
        messageId: isNew ? start.message_id : null,
        key: start.idempotencyKey?.key ?? null,
        ...notLookedFor,
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
      this.#add({ projectId, sessionId, messageId, key: null, ...notLookedFor });
      throw error;
    } finally {
      this.#running.delete(turnName(turn));
    }
  }

  /** Called after each heartbeat. Rejects if the database gives no answer; the next call tries the remaining turns. */
  async giveBack(): Promise<void> {
    if (this.#isGivingBack) return;
    this.#isGivingBack = true;
    this.#beats += 1;
    try {
      const waiting = this.#orphans.filter(({ due }) => due <= this.#beats);
      for (let at = 0; at < waiting.length; at += turnsAtOnce)
        await this.#giveBackLot(waiting.slice(at, at + turnsAtOnce));
    } finally {
      this.#isGivingBack = false;
    }
  }

  async #giveBackLot(orphans: readonly Orphan[]): Promise<void> {
    const values = columnsOf(
      orphans,
      ({ projectId }) => projectId,
      ({ sessionId }) => sessionId,
      ({ messageId }) => messageId,
      ({ key }) => key,
    );
    const found = await this.#ask<FoundTurn>(findTurns, [...values, this.#owner]);
    const later = new Set(orphans.filter((one) => this.#mayBegin(one)));
    const abandoned = found.flatMap(({ number, session_id, turn_epoch: epoch }) => {
      const one = orphans[number] as Orphan;
      if (later.has(one) || this.#running.has(turnName({ session_id, epoch }))) return [];
      return [{ projectId: one.projectId, session_id, epoch }];
    });
    const turns = columnsOf(
      abandoned,
      ({ projectId }) => projectId,
      ({ session_id }) => session_id,
      ({ epoch }) => epoch,
    );
    if (abandoned.length > 0) await this.#ask(giveBack, [...turns, this.#owner]);
    const foundOrphans = new Set(found.map(({ number }) => orphans[number]));
    const lookedFor = new Set(orphans.filter((one) => !later.has(one)));
    this.#orphans = this.#orphans.flatMap((one) => {
      if (!lookedFor.has(one)) return [one];
      if (foundOrphans.has(one) || one.looks >= maxLooks) return [];
      return [{ ...one, looks: one.looks + 1, due: this.#beats + 2 ** one.looks }];
    });
  }

  /** True if a call that runs now may have begun this turn, and has not got the answer yet. */
  #mayBegin({ sessionId, key }: Orphan): boolean {
    return [...this.#beginning].some(
      ({ session_id, idempotencyKey }) =>
        session_id === sessionId || (key !== null && idempotencyKey?.key === key),
    );
  }

  #add(orphan: Orphan): void {
    this.#orphans.push(orphan);
    if (this.#orphans.length > maxOrphans) this.#orphans.shift();
  }
}
