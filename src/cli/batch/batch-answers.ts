// The answer to one line of a batch: its turn at the service, sent again while the service wants to wait, and what came of it as the
// line of the result. What makes all further lines useless is told to whoever runs the batch.
import { createHash } from 'node:crypto';
import type { Call } from '../../service/call.ts';
import type { ChatReply, ChatRequest } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import { failureFacts } from '../../service/result.ts';
import { toJson } from '../terminal/json.ts';
import type { BatchId, BatchLine, BatchRequest } from './batch-request.ts';
import type { Pace } from './pace.ts';

export interface BatchOutcome {
  /** The line, with its line end. */
  readonly text: string;
  readonly outcome: 'answered' | 'failed' | 'interrupted';
  readonly item: BatchLine;
}

export interface BatchAnswersOptions {
  readonly service: ConversationService;
  /** Whether the service is known, by now, to honour the keys of requests. */
  readonly honoursKeys: () => boolean;
  /** Its signal stops the batch. */
  readonly call: Omit<Call, 'idempotencyKey' | 'requestId'>;
  readonly newRequestId: () => string;
  /** Names the batch, also when it goes on after a stop. */
  readonly batch: string;
  readonly defaultMode: () => Promise<string>;
  readonly pace: Pace;
  /** The session of all lines, as far as it is known; null where each line has its own. */
  readonly shared: SharedSession | null;
  /** 0 to 1. */
  readonly random: () => number;
  /** Told what makes it useless to go on. */
  readonly giveUp: (error: ParleyError) => void;
  /** Lines in a row that get no answer at all before the batch is given up. */
  readonly mostUnanswered: number;
}

export interface SharedSession {
  session_id: string | null;
  /** Of the session, where it is still to be made. */
  readonly title: string | null;
}

/** Of one line, each of them some sendings. */
const mostTries = 6;
/** A wait that is longer is not for a program to sit through. */
const longestWaitSeconds = 15 * 60;

export class BatchAnswers {
  readonly #options: BatchAnswersOptions;
  #unanswered = 0;

  constructor(options: BatchAnswersOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async answer(item: BatchLine): Promise<BatchOutcome> {
    const place: { session_id: string | null } = { session_id: null };
    try {
      if (item.request instanceof ParleyError) throw item.request;
      const data = await this.#turn(item, item.request, place);
      this.#unanswered = 0;
      return { text: `${toJson({ id: item.id, success: true, data })}\n`, outcome: 'answered', item };
    } catch (error) {
      if (this.#options.call.signal.aborted && !(item.request instanceof ParleyError)) {
        return failed(item, interrupted(place.session_id), 'interrupted');
      }
      const failure = asFailure(error);
      if (failure !== item.request) this.#consider(failure);
      return failed(item, failure, 'failed');
    }
  }

  /** The answer's data, whole, of as many tries as it takes. */
  async #turn(
    { id }: BatchLine,
    request: BatchRequest,
    place: { session_id: string | null },
  ): Promise<unknown> {
    const { pace, call, defaultMode, random } = this.#options;
    for (let tries = 1; ; tries++) {
      await pace.ready(call.signal);
      try {
        const mode = request.mode ?? (await this.#settled(defaultMode()));
        const { message } = request;
        return await this.#chat(id, { mode, message, ...this.#sessionOf(request) }, place);
      } catch (error) {
        if (!(error instanceof ParleyError) || tries === mostTries || !this.#isTurnedAway(error)) throw error;
        const seconds = error.retryAfter ?? 2 ** (tries - 1);
        if (seconds > longestWaitSeconds) {
          this.#options.giveUp(error);
          throw error;
        }
        pace.holdBack(seconds + random());
      }
    }
  }

  async #chat(id: BatchId, request: ChatRequest, place: { session_id: string | null }): Promise<unknown> {
    const { service, shared } = this.#options;
    const { mode, message, session_id, title } = request;
    const titled = title === undefined ? [] : [title];
    const call = this.#call(id, ['chat', String(id), mode, message, session_id, ...titled]);
    try {
      for await (const event of service.chat(call, request, 'whole')) {
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

  /** The session that a line goes on with; or the title of the one that its chat makes, where it has one. */
  #sessionOf(request: BatchRequest): Pick<ChatRequest, 'session_id' | 'title'> {
    const { shared } = this.#options;
    if (shared !== null && shared.session_id !== null) return { session_id: shared.session_id };
    const title = shared?.title ?? request.title;
    return title === null ? { session_id: request.session_id } : { session_id: null, title };
  }

  /**
   * A repetition of the same request in the same batch has the same key; a line that was corrected has another. Keys that follow each
   * other as the lines do are cheaper to keep for a server than random ones.
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

  /** Without a mode no line that names none can be sent. */
  async #settled(mode: Promise<string>): Promise<string> {
    return mode.catch((error: unknown) => {
      if (error instanceof ParleyError && error.code === 'USAGE') this.#options.giveUp(error);
      throw error;
    });
  }

  /**
   * 429 always; 503 where it is surely that: another failure of a gateway may hide that the turn was done. A model whose reply broke off
   * has worked for it: it is not asked again without a word of the user's.
   */
  #isTurnedAway({ code, retryAfter, details }: ParleyError): boolean {
    if (code === 'RATE_LIMITED') return true;
    if (details.some(({ problem }) => problem === 'broken_off')) return false;
    return code === 'UNAVAILABLE' && (retryAfter !== null || this.#options.honoursKeys());
  }

  #consider(failure: ParleyError): void {
    const { code, kind } = failure;
    const isUnanswered = kind === 'transient' && code !== 'SESSION_BUSY' && code !== 'INCOMPLETE_REPLY';
    this.#unanswered = isUnanswered ? this.#unanswered + 1 : 0;
    const isHopeless = kind === 'key' || (kind === 'store' && code !== 'STORE_BUSY');
    if (isHopeless || this.#unanswered >= this.#options.mostUnanswered) this.#options.giveUp(failure);
  }
}

/** The answer's own data; what another server tells elsewhere in its answer stands there too. */
function dataOf({ session_id, mode, reply }: ChatReply, body: unknown): unknown {
  const { data } = body as { readonly data?: unknown };
  const own = typeof data === 'object' && !Array.isArray(data) ? data : null;
  return { session_id, mode, reply, ...own };
}

function failed(item: BatchLine, error: ParleyError, outcome: 'failed' | 'interrupted'): BatchOutcome {
  return { text: `${toJson({ id: item.id, success: false, error: failureFacts(error) })}\n`, outcome, item };
}

function interrupted(session_id: string | null): ParleyError {
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
