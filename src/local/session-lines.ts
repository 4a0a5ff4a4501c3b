// Another reply to the last message, undo, redo and forks of sessions, over a store.
import type { Call } from '../service/call.ts';
import type { ReplyForm } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { Session } from '../service/session.ts';
import type { ForkRequest, MovedTurn, RegenerateRequest } from '../service/session-archive.ts';
import type { ForkEnd } from '../store/session-store.ts';
import { idempotencyKeyFor } from './fingerprint.ts';
import type { LocalOptions } from './local-options.ts';
import { engineOf, requireFound } from './local-service.ts';
import { checkSchema, checkTitle, isWholeNumber } from './text-rules.ts';
import type { PreparedTurn } from './turn.ts';
import { noMessage, requireTurn } from './turn-begin.ts';
import type { TurnBudget } from './turn-budget.ts';
import { idempotencyMismatch, sessionNotFound } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';
import { askWhenFree } from './turn-wait.ts';
import { wrongField } from './wrong-field.ts';

/** A call whose key was checked. `verify` checks it again. */
interface KeyedCall {
  readonly call: Call;
  readonly projectId: string;
  readonly budget: TurnBudget;
  readonly verify: () => Promise<unknown>;
}

export class SessionLines {
  readonly #local: LocalOptions;
  readonly #queue: TurnQueue;

  constructor(local: LocalOptions, queue: TurnQueue) {
    this.#local = local;
    this.#queue = queue;
  }

  async beginRegeneration(
    { call, projectId, budget, verify }: KeyedCall,
    sessionId: string,
    request: RegenerateRequest,
    form: ReplyForm,
  ): Promise<PreparedTurn> {
    const local = { ...this.#local, ids: this.#local.ids.of(projectId) };
    const { schema } = request;
    if (schema !== undefined) checkSchema(schema, local.limits);
    const session = requireFound(await local.store.findSession(projectId, sessionId));
    const mode = request.mode ?? session.mode;
    if (mode === null)
      throw session.message_count === 0
        ? noMessage()
        : wrongField('mode', 'is missing, and the session has no mode yet');
    const engine = engineOf(local.engines, mode);
    const idempotencyKey = await this.#idempotencyKey(call, 'regenerate', sessionId, request);
    const replyId = local.ids.next('msg', local.now());
    const take = async (answersOnly: boolean) => {
      const place = { projectId, name: sessionId };
      const begunTurn = await askWhenFree(local, this.#queue, place, call, (deadOwner) => {
        const now = local.now();
        const start = {
          session_id: sessionId,
          mode,
          reply_id: replyId,
          closing_message_id: local.ids.next('msg', now),
          now,
          lease: { owner: local.owner.id, ms: local.limits.turnLeaseMs },
          deadOwner,
          idempotencyKey,
          answersOnly,
        };
        return local.store.beginRegeneration(projectId, start, call.signal);
      });
      return requireTurn(begunTurn);
    };
    const begunTurn = await budget.begin(take, { isRepeatable: idempotencyKey !== null, verify });
    return { local, projectId, begunTurn, budget, form, engine, replyId, schema };
  }

  async move(
    call: Call,
    projectId: string,
    sessionId: string,
    operation: 'undoTurn' | 'redoTurn',
  ): Promise<MovedTurn> {
    const local = { ...this.#local, ids: this.#local.ids.of(projectId) };
    const idempotencyKey = await this.#idempotencyKey(call, operation, sessionId, {});
    const end = await askWhenFree(local, this.#queue, { projectId, name: sessionId }, call, (deadOwner) => {
      const now = local.now();
      const closing_message_id = local.ids.next('msg', now);
      const move = { session_id: sessionId, closing_message_id, now, deadOwner, idempotencyKey };
      return local.store[operation](projectId, move, call.signal);
    });
    if (end.kind === 'nothing') throw nothingToMove(operation);
    return end.value;
  }

  async fork(call: Call, projectId: string, sessionId: string, request: ForkRequest): Promise<Session> {
    const { store, limits, now } = this.#local;
    const ids = this.#local.ids.of(projectId);
    const { through, title } = request;
    if (through !== undefined && !isWholeNumber(through))
      throw wrongField('through', 'must be a whole number from 0');
    if (typeof title === 'string') checkTitle(title, limits);
    const idempotencyKey = await this.#idempotencyKey(call, 'forkSession', sessionId, request);
    const newSession = { session_id: ids.next('ses', now()), title };
    const fork = {
      session_id: sessionId,
      newSession,
      copy_id_prefix: ids.next('msg', now()),
      through: through ?? null,
      now: now(),
    };
    return forkOf(await store.forkSession(projectId, fork, idempotencyKey));
  }

  #idempotencyKey(call: Call, operation: string, sessionId: string, request: object) {
    return idempotencyKeyFor(this.#local, call, operation, [sessionId, request]);
  }
}

function forkOf(end: ForkEnd): Session {
  switch (end.kind) {
    case 'done':
      return end.value;
    case 'not_found':
      throw sessionNotFound();
    case 'mismatch':
      throw idempotencyMismatch();
    case 'no_reply':
      throw end.last === null
        ? nothing('The session has no reply yet, so there is nothing to copy.')
        : wrongField('through', `must be the position of a reply: an odd number up to ${end.last}`);
  }
}

function nothingToMove(operation: 'undoTurn' | 'redoTurn'): ParleyError {
  return operation === 'undoTurn'
    ? nothing('The session has no turn to undo.')
    : nothing(
        'The session has no undone turn that can be brought back.',
        'A new message or another reply ends that.',
      );
}

function nothing(message: string, hint = ''): ParleyError {
  return new ParleyError('INVALID_REQUEST', message, { hint: `${hint} Nothing was changed.`.trim() });
}
