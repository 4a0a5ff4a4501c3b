// The kinds of calls that go to the database in groups. Calls of one kind that wait at the same moment are one statement (groups.ts).
import type { Message, NewSession, Session } from '../../service/session.ts';
import type { FoundKey } from '../key-budgets.ts';
import type { Idempotent, TurnBegin, TurnEnd } from '../session-store.ts';
import { Groups } from './groups.ts';
import type { IdempotencyTools } from './idempotency.ts';
import { findKeysByHash, type refused } from './keys.ts';
import { type HistoryCall, readHistories } from './messages.ts';
import { createSessions, type SessionCreation } from './new-sessions.ts';
import { findSessions, type NamedSession } from './sessions.ts';
import { type BeginCall, beginTurns } from './turn-begins.ts';
import {
  areRunning,
  type EndCall,
  endTurns,
  type RenewCall,
  type RunningCall,
  renewTurns,
} from './turn-ends.ts';

export interface CallGroups {
  readonly keyReads: Groups<Uint8Array, FoundKey | null>;
  readonly sessionReads: Groups<NamedSession, Session | null | typeof refused>;
  readonly histories: Groups<HistoryCall, readonly Message[]>;
  readonly creations: Groups<SessionCreation, Idempotent<NewSession> | typeof refused>;
  readonly begins: Groups<BeginCall, TurnBegin | typeof refused>;
  readonly renewals: Groups<RenewCall, boolean>;
  readonly runningReads: Groups<RunningCall, boolean>;
  readonly ends: Groups<EndCall, TurnEnd>;
}

/** `server`: the owner of the turns of this process if it serves, otherwise null. */
export function callGroups(tools: IdempotencyTools, server: string | null): CallGroups {
  const { ask } = tools.connections;
  const alone = () => null;
  const keyReads: Groups<Uint8Array, FoundKey | null> = new Groups({
    send: (hashes) => findKeysByHash(ask, hashes),
    placeOf: alone,
  });
  const sessionReads: Groups<NamedSession, Session | null | typeof refused> = new Groups({
    send: (places) => findSessions(ask, places),
    placeOf: alone,
  });
  const histories: Groups<HistoryCall, readonly Message[]> = new Groups({
    send: (calls) => readHistories(ask, calls),
    placeOf: alone,
  });
  const runningReads: Groups<RunningCall, boolean> = new Groups({
    send: (calls) => areRunning(ask, calls, server),
    placeOf: alone,
  });
  const creations: Groups<SessionCreation, Idempotent<NewSession> | typeof refused> = new Groups({
    send: (creations) => createSessions(tools, creations),
    placeOf: ({ projectId, idempotencyKey }) => idempotencyKey && `${projectId} ${idempotencyKey.key}`,
  });
  const begins: Groups<BeginCall, TurnBegin | typeof refused> = new Groups({
    send: (calls) => beginTurns(tools, calls),
    placeOf: ({ projectId, start }) =>
      start.idempotencyKey === null
        ? start.session_id && `${projectId} ${start.session_id}`
        : `${projectId} key ${start.idempotencyKey.key}`,
    lengthOf: ({ start }) => start.content.length,
  });
  const placeOfTurn = ({ projectId, turn }: Pick<EndCall, 'projectId' | 'turn'>) =>
    `${projectId} ${turn.session_id}`;
  const renewals: Groups<RenewCall, boolean> = new Groups({
    send: (calls) => renewTurns(ask, calls),
    placeOf: (call) => placeOfTurn(call),
    lengthOf: ({ part }) => part?.content.length ?? 0,
  });
  const ends: Groups<EndCall, TurnEnd> = new Groups({
    send: (calls) => endTurns(tools, calls),
    placeOf: (call) => placeOfTurn(call),
    lengthOf: ({ reply }) => reply.content.length,
  });
  return { keyReads, sessionReads, histories, creations, begins, renewals, runningReads, ends };
}
