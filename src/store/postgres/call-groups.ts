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
  const noPlace = () => null;
  const placeOfTurn = ({ projectId, turn }: EndCall | RenewCall) => `${projectId} ${turn.session_id}`;
  return {
    keyReads: new Groups({ send: (hashes) => findKeysByHash(ask, hashes), placeOf: noPlace }),
    sessionReads: new Groups({ send: (places) => findSessions(ask, places), placeOf: noPlace }),
    histories: new Groups({ send: (calls) => readHistories(ask, calls), placeOf: noPlace }),
    runningReads: new Groups({ send: (calls) => areRunning(ask, calls, server), placeOf: noPlace }),
    creations: new Groups({
      send: (creations) => createSessions(tools, creations),
      placeOf: ({ projectId, idempotencyKey }) => idempotencyKey && `${projectId} ${idempotencyKey.key}`,
    }),
    begins: new Groups({
      send: (calls) => beginTurns(tools, calls),
      placeOf: ({ projectId, start }) =>
        start.idempotencyKey === null
          ? start.session_id && `${projectId} ${start.session_id}`
          : `${projectId} key ${start.idempotencyKey.key}`,
      lengthOf: ({ start }) => start.content.length,
    }),
    renewals: new Groups({
      send: (calls) => renewTurns(ask, calls),
      placeOf: (call) => placeOfTurn(call),
      lengthOf: ({ part }) => part?.content.length ?? 0,
    }),
    ends: new Groups({
      send: (calls) => endTurns(tools, calls),
      placeOf: (call) => placeOfTurn(call),
      lengthOf: ({ reply }) => reply.content.length,
    }),
  };
}
