// The answer to one line of a batch: its turn at the service, at the pace of the batch, and the line of the result.
import { createHash } from 'node:crypto';
import { failureFacts } from '../../service/answer.ts';
import type { Call } from '../../service/call.ts';
import type { ChatReply } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import { toJson } from '../terminal/json.ts';
import type { BatchId, BatchItem, BatchRequest } from './batch-request.ts';
import type { Pacer } from './pacer.ts';

export interface BatchResult {
  /** The line, with its line end. */
  readonly text: string;
  readonly outcome: 'answered' | 'failed' | 'stopped';
  readonly item: BatchItem;
}

export interface BatchAnswersOptions {
  readonly service: ConversationService;
  /** Its signal stops the batch. */
  readonly call: Omit<Call, 'idempotencyKey' | 'requestId'>;
  readonly newRequestId: () => string;
  /** The name of the batch, which stays when the batch goes on after a stop. */
  readonly batch: string;
  readonly defaultMode: () => Promise<string>;
  /** Rejects for a mode that the service does not have. */
  readonly requireMode: (mode: string) => Promise<void>;
  readonly pacer: Pacer;
  /** The session of all lines, as far as it is known; null where each line has its own. */
  readonly shared: SharedSession | null;
}

export interface SharedSession {
  session_id: string | null;
  /** The title of the session, where the session is still to be made. */
  readonly title: string | null;
}

export class BatchAnswers {
  readonly #options: BatchAnswersOptions;

  constructor(options: BatchAnswersOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async answer(item: BatchItem): Promise<BatchResult> {
    const { pacer, call } = this.#options;
    const place: { session_id: string | null } = { session_id: null };
    try {
      const { request } = item;
      if (request instanceof ParleyError) throw request;
      const data = await pacer.run(() => this.#turn(item.id, request, place));
      return { text: `${toJson({ id: item.id, success: true, data })}\n`, outcome: 'answered', item };
    } catch (error) {
      // A line whose failure stopped the batch has failed.
      const isOwn = error === item.request || pacer.gaveUpOn(error);
      const isStopped = call.signal.aborted && !isOwn;
      const failure = isStopped ? stopped(place.session_id) : asFailure(error);
      const text = `${toJson({ id: item.id, success: false, error: failureFacts(failure) })}\n`;
      return { text, outcome: isStopped ? 'stopped' : 'failed', item };
    }
  }

  /** Resolves with the data of the answer. */
  async #turn(id: BatchId, request: BatchRequest, place: { session_id: string | null }): Promise<unknown> {
    const { service, shared, defaultMode } = this.#options;
    const mode = request.mode ?? (await defaultMode());
    const session_id = await this.#session(id, request, mode);
    const { message } = request;
    const call = this.#call(id, ['chat', String(id), mode, message, session_id]);
    try {
      for await (const event of service.chat(call, { mode, message, session_id }, 'whole')) {
        if (event.event === 'session') place.session_id = event.data.session_id;
        if (event.event === 'done') return dataOf(event.data, event.body);
      }
    } catch (error) {
      if (error instanceof ParleyError) place.session_id ??= error.session_id;
      throw error;
    } finally {
      if (shared !== null) shared.session_id ??= place.session_id;
    }
    throw new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.', { hint: 'Try again.' });
  }

  /** The session that a line goes on with; null for one that the chat makes. */
  async #session(id: BatchId, request: BatchRequest, mode: string): Promise<string | null> {
    const { service, shared, requireMode } = this.#options;
    if (shared !== null && shared.session_id !== null) return shared.session_id;
    const title = shared?.title ?? request.title;
    if (title === null) return request.session_id;
    await requireMode(mode);
    // Lines that share a session have one key for making it, whichever line comes first.
    const whose = shared === null ? id : '';
    const call = this.#call(whose, ['session', String(whose), title]);
    const { session_id } = (await service.createSession(call, { title })).data;
    if (shared !== null) shared.session_id = session_id;
    return session_id;
  }

  /**
   * The same request in the same batch has the same idempotency key, and a line that was corrected has another. A key begins with the
   * number of its line, because a server keeps keys in an order at less cost than random ones.
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
 * Whether a request may be sent again as it is: after 429 always, after 503 unless the server may have done the turn and is not known to
 * tell a repetition by its key. A model that broke off its reply has done work, and is asked again only if the user says so.
 */
export function isTurnedAway(
  { code, retryAfter, details, mayHaveActed }: ParleyError,
  honoursKeys: boolean,
): boolean {
  if (code === 'RATE_LIMITED') return true;
  if (details.some(({ problem }) => problem === 'broken_off')) return false;
  return code === 'UNAVAILABLE' && (retryAfter !== null || !mayHaveActed || honoursKeys);
}

/** The data of the answer. Another server may tell elsewhere in its answer what belongs there. */
function dataOf({ session_id, mode, reply }: ChatReply, body: unknown): unknown {
  const { data } = body as { readonly data?: unknown };
  const own = typeof data === 'object' && !Array.isArray(data) ? data : null;
  return { session_id, mode, reply, ...own };
}

function stopped(session_id: string | null): ParleyError {
  return new ParleyError('INCOMPLETE_REPLY', 'The batch was stopped before this reply was complete.', {
    hint: 'parley chat --batch --resume sends it again.',
    ...(session_id !== null && { session_id }),
  });
}

function asFailure(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ParleyError('INTERNAL_ERROR', `Something unforeseen went wrong: ${message}.`, { cause: error });
}
