// Begins turns: all that wait at the same moment in one statement. If another turn is open in the session, or the key was used before, the
// rules of a turn decide. Their decision is written only if the state that they read is unchanged. Otherwise they decide again.
import type { SessionSettings } from '../../service/session.ts';
import { givenSettings, type MessageRow, parametersText, toMessage, toSettings } from '../rows.ts';
import type { IdempotencyKey, Turn, TurnBegin, TurnStart } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import { byNumber, columnsOf } from './columns.ts';
import {
  findTurnKey,
  forgetOld,
  type IdempotencyTools,
  type KnownRow,
  type KnownTurn,
  knownOf,
} from './idempotency.ts';
import { hashValue, refused } from './keys.ts';
import {
  beginTurns as beginStatement,
  openTurn,
  type RepeatedRow,
  repeatedTurn,
  replyTo,
  type StandingRow,
} from './turn-rows.ts';
import { standingTurn, take, takeAgain } from './turn-taking.ts';

export interface BeginCall {
  readonly projectId: string;
  readonly start: TurnStart;
}

interface BegunRow extends KnownRow {
  readonly is_refused: boolean;
  readonly number: number;
  readonly turn_position: number | null;
  readonly turn_epoch: number | null;
  /** The settings of a session that existed before. */
  readonly parameters: string | null;
  readonly system: string | null;
}

export async function beginTurns(
  tools: IdempotencyTools,
  calls: readonly BeginCall[],
): Promise<readonly (TurnBegin | typeof refused)[]> {
  const values = columnsOf(
    calls,
    ({ projectId }) => projectId,
    ({ start }) => sessionOf(start),
    ({ start }) => start.session_id === null,
    ({ start }) => start.newSession.title,
    ({ start }) => start.message_id,
    ({ start }) => start.content,
    ({ start }) => start.mode,
    ({ start }) => start.now,
    ({ start }) => start.lease.owner,
    ({ start }) => start.lease.ms,
    ({ start }) => start.idempotencyKey?.key ?? null,
    ({ start }) => start.idempotencyKey && Buffer.from(start.idempotencyKey.requestHash),
    ({ start }) => start.idempotencyKey && tools.keptMs(start.idempotencyKey),
    ({ start }) => hashValue(start.keyHash),
    ({ start }) => parametersText(start.newSession.parameters),
    ({ start }) => start.newSession.system ?? null,
    ({ start }) => start.newSession.user ?? null,
  );
  const rows = byNumber(await tools.connections.ask<BegunRow>(beginStatement, values));
  return Promise.all(calls.map((call, number) => resultOf(tools, call, rows.get(number))));
}

/** Begins a turn that needs no model: the repetition of an answered one. */
export async function beginAnswered(tools: IdempotencyTools, call: BeginCall): Promise<TurnBegin> {
  const known = await findTurnKey(tools, call.projectId, call.start.idempotencyKey);
  if (known.kind === 'turn') return repeatTurn(tools, call, known);
  return { kind: known.kind === 'new' ? 'over_budget' : 'mismatch' };
}

async function resultOf(
  tools: IdempotencyTools,
  call: BeginCall,
  row: BegunRow | undefined,
): Promise<TurnBegin | typeof refused> {
  if (row?.is_refused) return refused;
  const { projectId, start } = call;
  if (row !== undefined && row.turn_position !== null && row.turn_epoch !== null)
    return begun(
      newTurn(start, row.turn_position, row.turn_epoch),
      start.session_id === null ? givenSettings(start.newSession) : toSettings(row),
    );
  const known = knownOf(row, tools.rules, start.idempotencyKey, true);
  switch (known.kind) {
    case 'mismatch':
    case 'answer':
      return { kind: 'mismatch' };
    case 'turn':
      return repeatTurn(tools, call, known);
    case 'new':
      return takeFromAnother(tools, call);
    case 'old':
      await forgetOld(
        tools.connections.ask,
        projectId,
        start.idempotencyKey as IdempotencyKey,
        tools.keptMs(start.idempotencyKey as IdempotencyKey),
      );
      return (await beginTurns(tools, [call]))[0] as TurnBegin | typeof refused;
  }
}

/** The epoch of a turn that another owner has taken over meanwhile. Its holder learns this at its first renewal, or at its end. */
const lostEpoch = -1;

/** A new message in a session with an open turn. */
async function takeFromAnother(tools: IdempotencyTools, call: BeginCall): Promise<TurnBegin> {
  const { projectId, start } = call;
  const { ask } = tools.connections;
  for (;;) {
    const values = [projectId, sessionOf(start), start.lease.owner, start.message_id];
    const [row] = await ask<StandingRow & { readonly own_position: number | null }>(openTurn, values);
    if (row === undefined) return { kind: 'not_found' };
    // Begun by a sending of this very call whose answer was lost.
    if (row.own_position !== null) {
      const isOwn = row.turn_position === row.own_position && row.turn_owner === start.lease.owner;
      const epoch = isOwn ? row.turn_epoch : lostEpoch;
      return begun(newTurn(start, row.own_position, epoch), toSettings(row));
    }
    const decision = tools.rules.turns.begin(standingTurn(row), start.deadOwner);
    if (decision === 'busy') return busyWith(row);
    const message = { id: start.message_id, content: start.content };
    const { idempotencyKey } = start;
    const taken = await take(ask, { projectId, start, row, decision, message, idempotencyKey });
    if (taken !== null) return begun(newTurn(start, taken.turn_position, taken.turn_epoch), toSettings(row));
  }
}

/** Repeats a turn whose key is known. The turn may be at any position in the session; no other message is changed. */
async function repeatTurn(tools: IdempotencyTools, call: BeginCall, known: KnownTurn): Promise<TurnBegin> {
  const { projectId, start } = call;
  const { ask } = tools.connections;
  for (;;) {
    const [row] = await ask<RepeatedRow>(repeatedTurn, [
      ...[projectId, known.session, start.lease.owner, known.position, known.messageId],
    ]);
    if (row === undefined) return { kind: 'not_found' };
    const { message_id, position, mode } = row;
    const isOwn = row.turn_owner === start.lease.owner && row.turn_position === position;
    // The first sending of this call stored the message, and its answer was lost.
    if (isOwn && message_id === start.message_id)
      return begun(newTurn(start, position, row.turn_epoch), toSettings(row));
    const ofMessage = [projectId, known.session, position, message_id];
    const [found = null] = await ask<MessageRow>(replyTo, [...ofMessage, null, false]);
    const reply = found && toMessage(found);
    const begin = await takeAgain(tools, projectId, start, { row, reply, mode });
    if (begin !== null) return begin;
  }
}

function begun(turn: Turn, settings: SessionSettings): TurnBegin {
  return { kind: 'begun', turn, settings };
}

function newTurn(start: TurnStart, position: number, epoch: number): Turn {
  const { message_id, content, mode, lease } = start;
  return { session_id: sessionOf(start), message_id, position, content, mode, owner: lease.owner, epoch };
}

function sessionOf({ session_id, newSession }: TurnStart): string {
  return session_id ?? newSession.session_id;
}
