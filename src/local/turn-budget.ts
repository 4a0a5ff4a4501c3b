// The budget of a key, for one turn. The turn and an estimate of its tokens are counted before its message is stored, so that turns at the
// same moment cannot all find the same room. The tokens are corrected when the turn ends; a turn whose process dies keeps its estimate.
import { ParleyError } from '../service/errors.ts';
import type { Usage } from '../service/session.ts';
import { estimateTokens, messageTokens } from '../service/token-estimate.ts';
import type { KeyBudgets, KeyHash, Reservation, SessionStore } from '../store/session-store.ts';
import type { BegunTurn } from './turn-begin.ts';
import { OverBudget } from './turn-failures.ts';

/** The tokens that a reply is expected to have while it runs. */
const expectedReplyTokens = 1000;

export class TurnBudget {
  readonly #budgets: KeyBudgets;
  readonly #keyHash: KeyHash;
  /** The tokens that are counted before the turn. */
  readonly #expected: number = 0;
  #day = 0;

  /** `keyHash`: null for a key without a budget, for which nothing is done. */
  constructor({ budgets }: Pick<SessionStore, 'budgets'>, keyHash: KeyHash, message = '') {
    this.#budgets = budgets;
    this.#keyHash = keyHash;
    if (keyHash !== null) this.#expected = messageTokens(estimateTokens(message)) + expectedReplyTokens;
  }

  /**
   * Begins the turn. Throws `BUDGET_EXCEEDED`. A repeated request whose reply is stored is answered even if the budget is used up, and does
   * not count as a turn. `verify` throws for a key that is refused.
   */
  async begin(
    take: (answersOnly: boolean) => Promise<BegunTurn>,
    { isRepeatable, verify }: { readonly isRepeatable: boolean; readonly verify: () => Promise<unknown> },
  ): Promise<BegunTurn> {
    if (this.#keyHash === null) return take(false);
    const reservation = await this.#budgets.reserve(this.#keyHash, this.#expected);
    if (reservation.kind === 'used_up') {
      await verify();
      if (!isRepeatable) throw budgetExceeded(reservation);
      return take(true).catch((error: unknown) => {
        throw error instanceof OverBudget ? budgetExceeded(reservation) : error;
      });
    }
    this.#day = reservation.day;
    try {
      const begunTurn = await take(false);
      if (begunTurn.kind === 'answered') await this.#settle(-1, -this.#expected);
      return begunTurn;
    } catch (error) {
      await this.#settle(-1, -this.#expected);
      throw error;
    }
  }

  /** Counts the tokens that the turn took. If the engine did not count them, the message and the reply are estimated. */
  async end(usage: Usage | null, reply: string): Promise<void> {
    if (this.#keyHash === null) return;
    const takenTokens =
      usage === null
        ? this.#expected - expectedReplyTokens + messageTokens(estimateTokens(reply))
        : usage.input_tokens + usage.output_tokens;
    await this.#settle(0, takenTokens - this.#expected);
  }

  /** A turn whose tokens cannot be corrected keeps its estimate. */
  async #settle(turns: number, tokens: number): Promise<void> {
    if (this.#keyHash === null) return;
    await this.#budgets.settle(this.#keyHash, { day: this.#day, turns, tokens }).catch(() => {});
  }
}

function budgetExceeded({
  left: remaining,
  endsInMs,
}: Extract<Reservation, { kind: 'used_up' }>): ParleyError {
  const unit = remaining.turns === 0 ? 'turns' : 'tokens';
  return new ParleyError(
    'BUDGET_EXCEEDED',
    `The budget of this key is used up: no ${unit} are left today (UTC).`,
    {
      hint: 'Nothing was kept. It begins again at midnight UTC.',
      remaining,
      retryAfter: Math.ceil(endsInMs / 1000),
    },
  );
}
