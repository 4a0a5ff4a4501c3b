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
import { KeyCheck } from './key-check.ts';
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
import { runTurn } from './turn.ts';
import { beginWhenFree } from './turn-begin.ts';
import { TurnBudget } from './turn-budget.ts';
import { idempotencyMismatch, sessionNotFound } from './turn-failures.ts';
import { TurnQueue } from './turn-queue.ts';

export class LocalService implements ConversationService {
  readonly #local: LocalOptions;
  readonly #keys: KeyCheck;
  readonly #turnQueue: TurnQueue;

  constructor(local: LocalOptions, turnQueue = new TurnQueue(), keys = new KeyCheck(local)) {
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

  async *chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncGenerator<ChatEvent> {
    const { engines, limits, now } = this.#local;
    const { checked: engine, ...access } = await this.#keys.access(call, 'chat', () => {
      checkMessage(request.message, limits);
      if (request.title !== undefined) checkNewTitle(request.title, request.session_id, limits);
      checkNewSettings(request, limits);
      if (request.user !== undefined) checkUser('user', request.user);
      if (request.schema !== undefined) checkSchema(request.schema, limits);
      const engine = engineOf(engines, request.mode);
      checkIdempotencyKey(call);
      return engine;
    });
    const { session_id, user } = request;
    if (user !== undefined && session_id !== null)
      checkSameUser(user, await this.#local.store.findSession(access.projectId, session_id));
    const once = await idempotencyKeyFor(call, 'chat', request, now(), limits);
    const local = { ...this.#local, ids: this.#local.ids.of(access.projectId) };
    const budget = new TurnBudget(local.store, this.#keys.budgetOf(call), request.message);
    const take = (answersOnly: boolean) =>
      beginWhenFree(local, this.#turnQueue, access, call, request, once, answersOnly);
    const verify = () => this.#keys.verify(call.apiKey);
    const begin = () => budget.begin(take, { isRepeatable: once !== null, verify });
    const { schema } = request;
    const turn = { begin, budget, form, engine, replyId: null, ...(schema !== undefined && { schema }) };
    yield* runTurn(local, access.projectId, call, turn);
  }

  async createSession(call: Call, { user, ...others }: CreateSessionRequest): Promise<Result<NewSession>> {
    const { store, limits, ids } = this.#local;
    // A key that was used before there were users has the hash of a request without the field.
    const request = user == null ? others : { ...others, user };
    const { projectId, keyHash } = await this.#keys.access(call, 'createSession', () => {
      if (request.title !== null) checkTitle(request.title, limits);
      checkSettings(request, limits);
      if (user != null) checkUser('user', user);
      checkIdempotencyKey(call);
    });
    const now = this.#local.now();
    const session = { ...request, session_id: ids.of(projectId).next('ses', now), now };
    const once = await idempotencyKeyFor(call, 'createSession', request, now, limits);
    return resultOf(recorded(await store.createSession(projectId, session, once, keyHash)));
  }

  async getSession(call: Call, sessionId: string): Promise<Result<Session>> {
    const { projectId, keyHash } = await this.#keys.access(call, 'getSession', () => {});
    return resultOf(found(await this.#local.store.findSession(projectId, sessionId, keyHash)));
  }

  async deleteSession(call: Call, sessionId: string): Promise<Deletion> {
    const { store, now } = this.#local;
    const projectId = await this.#keys.project(call, 'deleteSession');
    const deleted = await store.deleteSession(projectId, sessionId, now(), this.#keys.by(call));
    return { ...resultOf(found(deleted)), repeated: false };
  }
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
export function recorded<T>(result: Idempotent<T>): T {
  if (result.kind === 'mismatch') throw idempotencyMismatch();
  return result.value;
}

/** The value that was found; throws `SESSION_NOT_FOUND` for null. */
export function found<T>(value: T | null): T {
  if (value === null) throw sessionNotFound();
  return value;
}
