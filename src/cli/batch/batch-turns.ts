// Runs the turns of a batch: one line at a time gets its reply at the pace of the batch and becomes a result line.
import { createHash } from 'node:crypto';
import type { Call } from '../../service/call.ts';
import type { ChatReply } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { hasCode, ParleyError, reasonOf } from '../../service/errors.ts';
import { failureFacts } from '../../service/result.ts';
import type { ReplyRule } from '../schema/reply-rule.ts';
import { toJson } from '../terminal/json.ts';
import type { BatchId, BatchLine, BatchRequest } from './batch-request.ts';
import type { BatchSessions, SharedSession } from './batch-sessions.ts';
import type { Pacer } from './pacer.ts';

export interface BatchOutcome {
  /** The result line, with its line end. */
  readonly text: string;
  readonly outcome: 'answered' | 'failed' | 'stopped';
  readonly item: BatchLine;
}

export interface BatchTurnsOptions {
  readonly service: Pick<ConversationService, 'chat'>;
  /** The rule for replies to lines without a schema; null if there is none. The body of a reply that matches has its JSON as `value`. */
  readonly rule: ReplyRule | null;
  /** The rule for the schema of a line. Rejects if the schema is invalid. */
  readonly ruleOf: (schema: string, line: number) => Promise<ReplyRule>;
  /** The call of each turn. Its signal stops the batch. */
  readonly call: Omit<Call, 'idempotencyKey' | 'requestId'>;
  readonly newRequestId: () => string;
  /** The name of the batch. A resumed batch keeps it. */
  readonly batch: string;
  readonly sessions: BatchSessions;
  readonly pacer: Pacer;
  /** The session of all lines; null if each line has its own. */
  readonly shared: SharedSession | null;
  /** The mode of the lines that name none; null for that of the session, or the default mode. */
  readonly mode: string | null;
  /** Stops all lines. */
  readonly giveUp: (error: unknown) => void;
}

export class BatchTurns {
  readonly #options: BatchTurnsOptions;

  constructor(options: BatchTurnsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(item: BatchLine): Promise<BatchOutcome> {
    const { pacer, call, giveUp } = this.#options;
    const place: { session_id: string | null } = { session_id: null };
    try {
      const { request } = item;
      if (request instanceof ParleyError) throw request;
      const rule = await this.#ruleOf(request, item.line);
      const answer = await pacer.run(() => this.#turn(item.id, request, rule, place));
      return { text: `${toJson({ id: item.id, success: true, ...answer })}\n`, outcome: 'answered', item };
    } catch (error) {
      const isForAll = this.#isForAll(error, item);
      if (isForAll) giveUp(error);
      // The line that stopped the batch counts as failed, not as stopped.
      const isOwn = error === item.request || isForAll || pacer.isFatal(error);
      const isStopped = call.signal.aborted && !isOwn;
      const failure = isStopped ? stopped(place.session_id) : asFailure(error);
      const text = `${toJson({ id: item.id, success: false, error: failureFacts(failure) })}\n`;
      return { text, outcome: isStopped ? 'stopped' : 'failed', item };
    }
  }

  /** True if the mode of the batch, or the default mode, is unknown. Every other line without a mode would fail, too. */
  #isForAll(error: unknown, { request }: BatchLine): boolean {
    if (!hasCode(error, 'UNKNOWN_MODE') || request instanceof ParleyError || request.mode !== null)
      return false;
    const { mode, shared } = this.#options;
    const isOfSession = mode === null && shared === null && request.session_id !== null;
    return !isOfSession;
  }

  async #ruleOf({ schema }: BatchRequest, line: number): Promise<ReplyRule | null> {
    const { rule, ruleOf } = this.#options;
    if (schema === undefined) return rule;
    return schema === null ? null : ruleOf(schema, line);
  }

  /** Resolves to the data of the response, and to its value if there is a schema. */
  async #turn(
    id: BatchId,
    line: BatchRequest,
    rule: ReplyRule | null,
    place: { session_id: string | null },
  ): Promise<object> {
    const { service, shared, sessions } = this.#options;
    const checkedService = rule?.over(service) ?? service;
    const request = await sessions.requestOf(line, () => this.#plainCall());
    const { mode, message, session_id, title, system, parameters } = request;
    const settings = [title, system, parameters].filter((field) => field !== undefined);
    const schema = rule === null ? [] : [{ schema: rule.schema }];
    const call = this.#call(id, ['chat', String(id), mode, message, session_id, ...settings, ...schema]);
    try {
      for await (const event of checkedService.chat(call, request, 'whole')) {
        if (event.event === 'session') place.session_id = event.data.session_id;
        if (event.event !== 'done') continue;
        const data = dataOf(event.data, event.body);
        return rule === null ? { data } : { data, value: replyValue(event.body) };
      }
    } catch (error) {
      if (error instanceof ParleyError) place.session_id ??= error.session_id;
      throw error;
    } finally {
      if (shared !== null) shared.session_id ??= place.session_id;
    }
    throw new ParleyError('INCOMPLETE_REPLY', 'The reply ended before it was complete.', {
      hint: 'Try again.',
    });
  }

  /** The call of an operation that may be repeated without a key. */
  #plainCall(): Call {
    const { call, newRequestId } = this.#options;
    return { ...call, idempotencyKey: null, requestId: newRequestId() };
  }

  /**
   * The call with the idempotency key of a line. The same request in the same batch has the same key; a corrected line has another one. The
   * key starts with the line number, because a server stores ordered keys more cheaply than random ones.
   */
  #call(id: BatchId, parts: readonly unknown[]): Call {
    const { batch, call, newRequestId } = this.#options;
    const number = typeof id === 'number' ? String(id).padStart(10, '0') : '';
    const hash = createHash('sha256')
      .update(JSON.stringify([batch, ...parts]))
      .digest('base64url');
    const idempotencyKey = `${batch}.${number}.${hash.slice(0, 22)}`;
    return { ...call, idempotencyKey, requestId: newRequestId() };
  }
}

/**
 * True if the same request may be sent again: always after 429, and after 503 unless the server may have run the turn and does not honour
 * keys. A turn whose reply broke off is repeated only if the user asks for it, because the model has done work.
 */
export function isRefused(
  { code, retryAfter, details, mayHaveActed }: ParleyError,
  honoursKeys: boolean,
): boolean {
  if (code === 'RATE_LIMITED') return true;
  if (details.some(({ problem }) => problem === 'broken_off')) return false;
  return code === 'UNAVAILABLE' && (retryAfter !== null || !mayHaveActed || honoursKeys);
}

/** The data of the response. A third-party server may have the fields elsewhere in its body. */
function dataOf({ session_id, mode, reply }: ChatReply, body: unknown): unknown {
  const { data } = body as { readonly data?: unknown };
  const own = typeof data === 'object' && !Array.isArray(data) ? data : null;
  return { session_id, mode, reply, ...own };
}

function replyValue(body: unknown): unknown {
  return (body as { readonly value?: unknown }).value;
}

function stopped(session_id: string | null): ParleyError {
  return new ParleyError('INCOMPLETE_REPLY', 'The batch was stopped before this reply was complete.', {
    hint: 'To send it again: parley chat --batch --resume',
    ...(session_id !== null && { session_id }),
  });
}

function asFailure(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  return new ParleyError('INTERNAL_ERROR', `Unexpected error: ${reasonOf(error)}.`, { cause: error });
}
