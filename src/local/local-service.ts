// The six operations of the interface document, kept in this process. Who may see what, and which values are allowed, is decided
// here, once; the store keeps and finds.
import { type Answer, answer } from '../service/answer.ts';
import type { Call } from '../service/call.ts';
import type { ChatEvent, ChatRequest, ReplyForm } from '../service/chat-event.ts';
import type {
  ConversationService,
  CreateSessionRequest,
  Deletion,
  KeyIdentity,
} from '../service/conversation-service.ts';
import type { Mode } from '../service/mode.ts';
import type { NewSession, Session } from '../service/session.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import type { Idempotent } from '../store/session-store.ts';
import { onceFor } from './fingerprint.ts';
import { KeyCheck } from './keys.ts';
import type { LocalOptions } from './local-options.ts';
import { checkMessage, checkTitle } from './text-rules.ts';
import { runTurn } from './turn.ts';
import { idempotencyMismatch, sessionNotFound } from './turn-failures.ts';
import { TurnQueue } from './turn-queue.ts';

export class LocalService implements ConversationService {
  readonly #local: LocalOptions;
  readonly #keys: KeyCheck;
  readonly #turnQueue = new TurnQueue();

  constructor(local: LocalOptions) {
    this.#local = local;
    this.#keys = new KeyCheck(local.store);
  }

  async verify(call: Call): Promise<Answer<KeyIdentity>> {
    return answer(await this.#keys.verify(call.apiKey));
  }

  async models(call: Call): Promise<Answer<readonly Mode[]>> {
    await this.#keys.project(call);
    return answer(this.#local.engines.modes);
  }

  async *chat(call: Call, request: ChatRequest, form: ReplyForm): AsyncGenerator<ChatEvent> {
    const { engines, limits, now } = this.#local;
    const projectId = await this.#keys.project(call);
    checkMessage(request.message, limits);
    const engine = engines.engine(request.mode);
    if (engine === null)
      throw unknownMode(
        request.mode,
        engines.modes.map(({ name }) => name),
      );
    const once = await onceFor(call, 'chat', request, now(), limits);
    const local = { ...this.#local, ids: this.#local.ids.of(projectId) };
    yield* runTurn(local, this.#turnQueue, projectId, call, { request, form, once, engine });
  }

  async createSession(call: Call, request: CreateSessionRequest): Promise<Answer<NewSession>> {
    const { store, limits, ids } = this.#local;
    const projectId = await this.#keys.project(call);
    if (request.title !== null) checkTitle(request.title, limits);
    const now = this.#local.now();
    const session = { session_id: ids.of(projectId).next('ses', now), title: request.title, now };
    const once = await onceFor(call, 'createSession', request, now, limits);
    return answer(recorded(await store.createSession(projectId, session, once)));
  }

  async getSession(call: Call, sessionId: string): Promise<Answer<Session>> {
    const projectId = await this.#keys.project(call);
    return answer(found(await this.#local.store.findSession(projectId, sessionId)));
  }

  async deleteSession(call: Call, sessionId: string): Promise<Deletion> {
    const { store, now } = this.#local;
    const projectId = await this.#keys.project(call);
    return { ...answer(found(await store.deleteSession(projectId, sessionId, now()))), repeated: false };
  }
}

/** The value of a write that happens once; throws `IDEMPOTENCY_MISMATCH`. */
export function recorded<T>(result: Idempotent<T>): T {
  if (result.kind === 'mismatch') throw idempotencyMismatch();
  return result.value;
}

/** What was looked for; throws `SESSION_NOT_FOUND`. */
export function found<T>(value: T | null): T {
  if (value === null) throw sessionNotFound();
  return value;
}
