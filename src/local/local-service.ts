// The six operations of the interface document, over a store. It checks access and values; the store only stores and finds. Keys are
// checked here or, for some calls, in the store's own statement.
import type { EngineSet } from '../engine/engine-set.ts';
import type { ReplyEngine } from '../engine/reply-engine.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from '../service/chat-event.ts';
import type {
  ConversationService,
  CreateSessionRequest,
  Deletion,
  KeyIdentity,
} from '../service/conversation-service.ts';
import type { Mode } from '../service/mode.ts';
import { type Result, resultOf } from '../service/result.ts';
import type { NewSession, Session } from '../service/session.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import type { Idempotent } from '../store/session-store.ts';
import { idempotencyKeyFor } from './fingerprint.ts';
import type { Access, KeyCheck } from './key-check.ts';
import type { LocalOptions } from './local-options.ts';
import {
  checkIdempotencyKey,
  checkMessage,
  checkNewSettings,
  checkNewTitle,
  checkSameUser,
  checkSchema,
  checkSettings,
  checkTitle,
  checkUser,
} from './text-rules.ts';
import { type PreparedTurn, runTurn } from './turn.ts';
import { beginWhenFree } from './turn-begin.ts';
import { TurnBudget } from './turn-budget.ts';
import { idempotencyMismatch, sessionNotFound } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';
import { wrongField } from './wrong-field.ts';

/** For a request without values of its own. */
const noCheck = () => {};

export class LocalService implements ConversationService {
  readonly #local: LocalOptions;
  readonly #keys: KeyCheck;
  readonly #turnQueue: TurnQueue;

  constructor(local: LocalOptions, turnQueue: TurnQueue, keys: KeyCheck) {
    this.#local = local;
    this.#turnQueue = turnQueue;
    this.#keys = keys;
  }

  async verify(call: Call): Promise<Result<KeyIdentity>> {
    return resultOf(await this.#keys.verify(call.apiKey));
  }

  async models(call: Call): Promise<Result<readonly Mode[]>> {
    await this.#keys.project(call, 'models');
    return resultOf(this.#local.engines.modes);
  }

  chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncIterable<ChatEvent> {
    return runTurn(call, () => this.#beginTurn(call, request, form));
  }

  async #beginTurn(call: Call, request: ChatRequest, form: ReplyForm): Promise<PreparedTurn> {
    const access = await this.#keys.access(call, 'chat', () => this.#checkChat(call, request));
    const { store, engines } = this.#local;
    const { projectId, keyHash } = access;
    const budget = new TurnBudget(store, this.#keys.budgetOf(call), request.message);
    const session = request.mode === null ? await this.#findSession(access, request.session_id ?? '') : null;
    // A key is stored with the mode that the request was for, so a repetition may name that mode or none.
    const mode = request.mode ?? (await this.#modeOf(projectId, call, session));
    const engine = access.checked ?? engineOf(engines, mode);
    const requestInMode = { ...request, mode };
    const { session_id, user } = request;
    if (user !== undefined && session_id !== null)
      checkSameUser(user, session ?? (await this.#sessionOrNull(access, session_id)));
    const idempotencyKey = await idempotencyKeyFor(this.#local, call, 'chat', requestInMode);
    const local = { ...this.#local, ids: this.#local.ids.of(projectId) };
    const take = (answersOnly: boolean) => {
      const start = { access, request: requestInMode, idempotencyKey, answersOnly };
      return this.#keys.recordRefusal(keyHash, beginWhenFree(local, this.#turnQueue, call, start));
    };
    const verify = () => this.#keys.verify(call.apiKey);
    const begunTurn = await budget.begin(take, { isRepeatable: idempotencyKey !== null, verify });
    return { local, projectId, begunTurn, budget, form, engine, replyId: null, schema: request.schema };
  }

  /** Checks the values of a chat, and returns the engine of its mode; null if it names none. */
  #checkChat(call: Call, request: ChatRequest): ReplyEngine | null {
    const { engines, limits } = this.#local;
    const { mode, message, session_id, title, user, schema } = request;
    checkMessage(message, limits);
    if (title !== undefined) checkNewTitle(title, session_id, limits);
    checkNewSettings(request, limits);
    if (user !== undefined) checkUser('user', user);
    if (schema !== undefined) checkSchema(schema, limits);
    if (mode === null && session_id === null) throw wrongField('mode', 'must be a string for a new session');
    const engine = mode === null ? null : engineOf(engines, mode);
    checkIdempotencyKey(call);
    return engine;
  }

  /** The mode of a chat that names none: that of the turn which its key began, else that of the session. */
  async #modeOf(projectId: string, call: Call, session: Session | null): Promise<string> {
    const { store, limits, now } = this.#local;
    const { idempotencyKey: key } = call;
    const idempotencyKey = key === null ? null : { key, keptSince: now() - limits.idempotencyMs };
    const mode =
      (idempotencyKey && (await store.modeOfTurn(projectId, idempotencyKey))) ?? session?.mode ?? null;
    if (mode === null) throw wrongField('mode', 'is null, and the session has no mode yet');
    return mode;
  }

  async createSession(call: Call, request: CreateSessionRequest): Promise<Result<NewSession>> {
    const { store, limits, ids } = this.#local;
    const { title, system = null, parameters = {}, user = null } = request;
    const { projectId, keyHash } = await this.#keys.access(call, 'createSession', () => {
      if (title !== null) checkTitle(title, limits);
      checkSettings(request, limits);
      if (user !== null) checkUser('user', user);
      checkIdempotencyKey(call);
    });
    const now = this.#local.now();
    const session_id = ids.of(projectId).next('ses', now);
    const session = { session_id, title, system, parameters, user, now };
    const requestToHash = withoutEmptyUser(request);
    const idempotencyKey = await idempotencyKeyFor(this.#local, call, 'createSession', requestToHash);
    const creation = store.createSession(projectId, session, idempotencyKey, keyHash);
    return resultOf(requireSameRequest(await this.#keys.recordRefusal(keyHash, creation)));
  }

  async getSession(call: Call, sessionId: string): Promise<Result<Session>> {
    const access = await this.#keys.access(call, 'getSession', noCheck);
    return resultOf(await this.#findSession(access, sessionId));
  }

  async deleteSession(call: Call, sessionId: string): Promise<Deletion> {
    const { store, now } = this.#local;
    const { projectId, keyHash } = await this.#keys.access(call, 'deleteSession', noCheck);
    const deletion = store.deleteSession(projectId, sessionId, now(), this.#keys.origin(call), keyHash);
    return { repeated: false, ...resultOf(requireFound(await this.#keys.recordRefusal(keyHash, deletion))) };
  }

  async #findSession(access: Access, sessionId: string): Promise<Session> {
    return requireFound(await this.#sessionOrNull(access, sessionId));
  }

  #sessionOrNull({ projectId, keyHash }: Access, sessionId: string): Promise<Session | null> {
    return this.#keys.recordRefusal(keyHash, this.#local.store.findSession(projectId, sessionId, keyHash));
  }
}

/** A key that was used before there were users has the hash of a request without the field. */
function withoutEmptyUser(request: CreateSessionRequest): CreateSessionRequest {
  const { user, ...others } = request;
  return user == null ? others : request;
}

/** The engine of a mode; throws `UNKNOWN_MODE`. */
export function engineOf(engines: EngineSet, mode: string): ReplyEngine {
  const engine = engines.engine(mode);
  if (engine !== null) return engine;
  throw unknownMode(
    mode,
    engines.modes.map(({ name }) => name),
  );
}

/** The result of a write that happens at most once per key; throws `IDEMPOTENCY_MISMATCH`. */
export function requireSameRequest<T>(result: Idempotent<T>): T {
  if (result.kind === 'mismatch') throw idempotencyMismatch();
  return result.value;
}

/** The value that was found; throws `SESSION_NOT_FOUND` for null. */
export function requireFound<T>(value: T | null): T {
  if (value === null) throw sessionNotFound();
  return value;
}
