// The reply of a running turn while it is received: its text so far, and the end of the turn in the store.
import type { ChatEvent } from '../service/chat-event.ts';
import type { ErrorCode, ParleyError } from '../service/errors.ts';
import { toTime } from '../service/iso-time.ts';
import type { FinishReason, Message, Usage } from '../service/session.ts';
import type { Turn } from '../store/session-store.ts';
import type { AskedEngine } from './ask-with-fallback.ts';
import type { ReplySoFar } from './held-turn.ts';
import type { LocalOptions } from './local-options.ts';
import { withSlowStoreNotice } from './slow-store-notice.ts';
import type { TurnBudget } from './turn-budget.ts';
import { doneEvent } from './turn-events.ts';
import { lostReply, sessionNotFound } from './turn-failures.ts';

const slowStore = 'The store does not answer: the reply waits for it, up to a minute.';

/** The `done` event of a stored reply, or the reply that is stored in place of a lost one, if any. */
type ReplyEnd =
  | { readonly kind: 'kept'; readonly done: ChatEvent }
  | { readonly kind: 'lost'; readonly standing: Message | null };

interface ReceivedReplyOptions {
  readonly budget: Pick<TurnBudget, 'end'>;
  /** The id of the reply; null for a new one. */
  readonly replyId: string | null;
}

export class ReceivedReply {
  readonly #local: LocalOptions;
  readonly #projectId: string;
  readonly #turn: Turn;
  readonly #options: ReceivedReplyOptions;
  #text = '';
  #mode: string;
  #turnsLeftOut = 0;
  /** The failure of the requested mode, if its fallback is asked. */
  #failure: ParleyError | null = null;
  #askedAt: number;
  #firstTokenMs: number | null = null;
  /** The id of the reply that the stored parts become if this process dies. */
  #partsId: string | null = null;
  #hasEnd = false;

  constructor(local: LocalOptions, projectId: string, turn: Turn, options: ReceivedReplyOptions) {
    this.#local = local;
    this.#projectId = projectId;
    this.#turn = turn;
    this.#options = options;
    this.#mode = turn.mode;
    this.#askedAt = local.sinceBoot();
  }

  get text(): string {
    return this.#text;
  }

  /** True after a call of {@link end}, even if the store failed. */
  get hasEnd(): boolean {
    return this.#hasEnd;
  }

  /** The engine of this mode is asked now. */
  begin({ mode, turnsLeftOut, failure }: AskedEngine): void {
    this.#mode = mode;
    this.#failure = failure;
    this.#turnsLeftOut = turnsLeftOut;
    this.#askedAt = this.#local.sinceBoot();
  }

  /** Reasoning is no part of the text, but its first chunk ends the wait for the first token. */
  add(chunk: { readonly type: 'text' | 'reasoning'; readonly text: string }): void {
    this.#firstTokenMs ??= this.#local.sinceBoot() - this.#askedAt;
    if (chunk.type === 'text') this.#text += chunk.text;
  }

  soFar(): ReplySoFar {
    const now = this.#local.now();
    this.#partsId ??= this.#local.ids.next('msg', now);
    return { text: this.#text, mode: this.#mode, message_id: this.#partsId, now };
  }

  /** Stores the text so far as the reply, and ends the turn. */
  async end(
    finishReason: FinishReason,
    usage: Usage | null,
    errorCode: ErrorCode | null = null,
  ): Promise<ReplyEnd> {
    this.#hasEnd = true;
    const { budget, replyId } = this.#options;
    const now = this.#local.now();
    const message = {
      message_id: replyId ?? this.#local.ids.next('msg', now),
      content: this.#text,
      finish_reason: finishReason,
      mode: this.#mode,
      usage,
    };
    const ending = this.#local.store.endTurn(this.#projectId, this.#turn, {
      error_code: errorCode,
      first_token_ms: this.#firstTokenMs,
      now,
      ...message,
    });
    const budgetEnd = budget.end(usage, this.#text);
    const end = await withSlowStoreNotice(ending, slowStore, this.#local.say).catch((error: unknown) => {
      throw lostReply(error, this.#turn);
    });
    await budgetEnd;
    switch (end.kind) {
      case 'not_found':
        throw sessionNotFound();
      case 'lost':
        return { kind: 'lost', standing: replyId === null ? end.standing : null };
      case 'kept': {
        const { message_count } = end;
        const created_at = toTime(now);
        const storedReply = {
          message_count,
          created_at,
          turns_left_out: this.#turnsLeftOut,
          ...message,
          ...(this.#failure && { failure: this.#failure }),
        };
        return { kind: 'kept', done: doneEvent(this.#turn, storedReply) };
      }
    }
  }
}
