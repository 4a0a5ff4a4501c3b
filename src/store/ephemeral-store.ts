// A store that keeps no text: sessions are in a store in memory, and keys and usage in a persistent store. For each turn the persistent
// store gets a deleted session of its own, without a title, whose two messages are empty: it carries the usage of the turn.
import { refusedKey } from '../service/refused-key.ts';
import {
  type SessionStore,
  type Turn,
  type TurnBegin,
  type TurnReply,
  type TurnStart,
  turnName,
} from './session-store.ts';

/** The operations on keys and on the store itself. */
const persistentCalls = [
  ...(['createKey', 'listKeys', 'revokeKey', 'planPurge', 'purgeSessions', 'holdsAny'] as const),
  ...(['usage', 'inspect', 'ping', 'redactions', 'ofUsers', 'retention'] as const),
];
/** The operations on sessions. */
const memoryCalls = [
  ...(['changeSession', 'restoreSession', 'deleteSessions', 'restoreSessions', 'orderSessions'] as const),
  ...(['listSessions', 'listMessages', 'listAllMessages', 'importSession', 'forkSession'] as const),
  ...(['undoTurn', 'redoTurn', 'modeOfTurn', 'waitForTurn', 'history', 'renewTurn'] as const),
];

/** The fields of a turn that hold no text of the conversation. */
type CountedTurn = Pick<TurnStart, 'message_id' | 'closing_message_id' | 'mode' | 'now' | 'lease'> & {
  readonly session_id: string;
};

export function ephemeralStore(persistent: SessionStore, memory: SessionStore): SessionStore {
  const running = new Map<string, Turn>();
  const projects = new Map<string, Promise<unknown>>();

  const findKey: SessionStore['findKey'] = async (hash) => {
    const identity = await persistent.findKey(hash);
    if (identity === null) return null;
    const { key_id, key_name, project_id, project_name } = identity;
    const creation =
      projects.get(project_id) ??
      memory.createKey({ key_id, key_name, hash, project_name, project_id, now: 0 });
    projects.set(project_id, creation);
    await creation;
    return identity;
  };
  /** Only the persistent store knows that a key was revoked. */
  const checkKey = async (projectId: string, hash: Uint8Array | null) => {
    if (hash !== null && (await findKey(hash))?.project_id !== projectId) throw refusedKey();
  };
  const startUsageCount = async (
    projectId: string,
    begin: TurnBegin,
    start: CountedTurn,
  ): Promise<TurnBegin> => {
    if (begin.kind !== 'begun') return begin;
    try {
      running.set(turnName(begin.turn), await beginCounting(persistent, projectId, start));
      return { ...begin, turn: { ...begin.turn, isEphemeral: true } };
    } catch (error) {
      await memory.endTurn(projectId, begin.turn, noReply(start));
      throw error;
    }
  };

  return {
    ...boundTo(persistent, persistentCalls),
    ...boundTo(memory, memoryCalls),
    audit: persistent.audit,
    budgets: persistent.budgets,
    findKey,
    async createSession(projectId, session, idempotencyKey, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.createSession(projectId, session, idempotencyKey);
    },
    async findSession(projectId, sessionId, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.findSession(projectId, sessionId);
    },
    async deleteSession(projectId, sessionId, now, by, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.deleteSession(projectId, sessionId, now, by);
    },
    async searchSessions(projectId, filter, signal, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.searchSessions(projectId, filter, signal);
    },
    async beginTurn(projectId, start, signal) {
      await checkKey(projectId, start.keyHash ?? null);
      const begin = await memory.beginTurn(projectId, { ...start, keyHash: null }, signal);
      return startUsageCount(projectId, begin, { ...start, session_id: start.newSession.session_id });
    },
    async beginRegeneration(projectId, start, signal) {
      const begin = await memory.beginRegeneration(projectId, start, signal);
      // The session that counts a regeneration has an id of its own, made of that of the reply.
      const session_id = start.reply_id.replace(/^[a-z]+_/, 'ses_');
      return startUsageCount(projectId, begin, { ...start, session_id, message_id: start.reply_id });
    },
    async endTurn(projectId, turn, reply) {
      const end = await memory.endTurn(projectId, turn, reply);
      const count = running.get(turnName(turn));
      if (count !== undefined) await persistent.endTurn(projectId, count, { ...reply, content: '' });
      running.delete(turnName(turn));
      return end;
    },
    async close() {
      await memory.close();
      await persistent.close();
    },
  };
}

function boundTo<Name extends keyof SessionStore>(
  store: SessionStore,
  names: readonly Name[],
): Pick<SessionStore, Name> {
  const calls = names.map((name) => [name, (store[name] as (...call: never[]) => unknown).bind(store)]);
  // Each name is next to the method of that name.
  return Object.fromEntries(calls) as Pick<SessionStore, Name>;
}

/** The session is deleted at once: a process that ends early leaves nothing that a listing shows. */
async function beginCounting(persistent: SessionStore, projectId: string, start: CountedTurn): Promise<Turn> {
  const { session_id, message_id, closing_message_id, mode, now, lease } = start;
  const begin = await persistent.beginTurn(projectId, {
    session_id: null,
    newSession: { session_id, title: null },
    ...{ message_id, closing_message_id, mode, now, lease },
    content: '',
    deadOwner: null,
    idempotencyKey: null,
  });
  if (begin.kind !== 'begun') throw new Error(`A new session cannot be ${begin.kind}.`);
  await persistent.deleteSession(projectId, session_id, now);
  return begin.turn;
}

function noReply({ closing_message_id, mode, now }: CountedTurn): TurnReply {
  return {
    message_id: closing_message_id,
    content: '',
    finish_reason: 'interrupted',
    mode,
    now,
    usage: null,
    first_token_ms: null,
    error_code: null,
  };
}
