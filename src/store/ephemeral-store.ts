// A store that keeps no text: sessions live in a store in memory, and what outlives the process is in the kept store. For each turn the
// kept store gets a deleted session of its own, without a title, whose two messages are empty: it carries the usage of the turn.
import { refusedKey } from '../service/refused-key.ts';
import type { SessionStore, Turn, TurnBegin, TurnReply, TurnStart } from './session-store.ts';

/** The operations on keys and on the store itself. */
const ofKept = [
  ...(['createKey', 'listKeys', 'revokeKey', 'planPurge', 'purgeSessions', 'holdsAny'] as const),
  ...(['usage', 'inspect', 'ping', 'redactions', 'ofUsers', 'retention'] as const),
];
/** The operations on sessions. */
const ofMemory = [
  ...([
    'deleteSession',
    'changeSession',
    'restoreSession',
    'deleteSessions',
    'restoreSessions',
    'orderSessions',
  ] as const),
  ...(['listSessions', 'listMessages', 'listAllMessages', 'importSession', 'forkSession'] as const),
  ...(['undoTurn', 'redoTurn', 'modeOfTurn', 'waitForTurn', 'history', 'renewTurn'] as const),
];

/** The parts of a store that hold no text of a conversation. */
type CountedTurn = Pick<TurnStart, 'message_id' | 'closing_message_id' | 'mode' | 'now' | 'lease'> & {
  readonly session_id: string;
};

export function ephemeralStore(kept: SessionStore, memory: SessionStore): SessionStore {
  const running = new Map<string, Turn>();
  const projects = new Map<string, Promise<unknown>>();

  const findKey: SessionStore['findKey'] = async (hash) => {
    const identity = await kept.findKey(hash);
    if (identity === null) return null;
    const { key_id, key_name, project_id, project_name } = identity;
    const made =
      projects.get(project_id) ??
      memory.createKey({ key_id, key_name, hash, project_name, project_id, now: 0 });
    projects.set(project_id, made);
    await made;
    return identity;
  };
  /** A key that was revoked since is known to the kept store alone. */
  const checkKey = async (projectId: string, hash: Uint8Array | null) => {
    if (hash !== null && (await findKey(hash))?.project_id !== projectId) throw refusedKey();
  };
  const counted = async (projectId: string, begin: TurnBegin, start: CountedTurn): Promise<TurnBegin> => {
    if (begin.kind !== 'begun') return begin;
    try {
      running.set(nameOf(begin.turn), await beginCounting(kept, projectId, start));
      return begin;
    } catch (error) {
      await memory.endTurn(projectId, begin.turn, noReply(start));
      throw error;
    }
  };

  return {
    ...boundTo(kept, ofKept),
    ...boundTo(memory, ofMemory),
    audit: kept.audit,
    budgets: kept.budgets,
    findKey,
    async createSession(projectId, session, idempotencyKey, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.createSession(projectId, session, idempotencyKey);
    },
    async findSession(projectId, sessionId, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.findSession(projectId, sessionId);
    },
    async searchSessions(projectId, filter, signal, keyHash = null) {
      await checkKey(projectId, keyHash);
      return memory.searchSessions(projectId, filter, signal);
    },
    async beginTurn(projectId, start, signal) {
      await checkKey(projectId, start.keyHash ?? null);
      const begin = await memory.beginTurn(projectId, { ...start, keyHash: null }, signal);
      return counted(projectId, begin, { ...start, session_id: start.newSession.session_id });
    },
    async beginRegeneration(projectId, start, signal) {
      const begin = await memory.beginRegeneration(projectId, start, signal);
      const session_id = start.reply_id.replace(/^[a-z]+_/, 'ses_');
      return counted(projectId, begin, { ...start, session_id, message_id: start.reply_id });
    },
    async endTurn(projectId, turn, reply) {
      const end = await memory.endTurn(projectId, turn, reply);
      const count = running.get(nameOf(turn));
      if (count !== undefined) await kept.endTurn(projectId, count, { ...reply, content: '' });
      running.delete(nameOf(turn));
      return end;
    },
    async close() {
      await memory.close();
      await kept.close();
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
async function beginCounting(kept: SessionStore, projectId: string, start: CountedTurn): Promise<Turn> {
  const { session_id, message_id, closing_message_id, mode, now, lease } = start;
  const begin = await kept.beginTurn(projectId, {
    session_id: null,
    newSession: { session_id, title: null },
    ...{ message_id, closing_message_id, mode, now, lease },
    content: '',
    deadOwner: null,
    idempotencyKey: null,
  });
  if (begin.kind !== 'begun') throw new Error(`A new session cannot be ${begin.kind}.`);
  await kept.deleteSession(projectId, session_id, now);
  return begin.turn;
}

function noReply({ closing_message_id, mode, now }: CountedTurn): TurnReply {
  const nothing = { usage: null, first_token_ms: null, error_code: null } as const;
  return { message_id: closing_message_id, content: '', finish_reason: 'interrupted', mode, now, ...nothing };
}

function nameOf({ session_id, epoch }: Turn): string {
  return `${session_id} ${epoch}`;
}
