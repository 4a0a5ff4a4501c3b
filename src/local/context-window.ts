// Turns a session's history into the context of an engine: whole turns within the engine's budget (the first and the newest), oldest first,
// with cut replies marked. A message without a reply is put before the next message. The history is read backwards in pages until
// the budget is full, so a long session costs as much as a short one.
import type { ContextMessage, ReplyEngine } from '../engine/reply-engine.ts';
import { isCut, type Message, noSettings, type SessionSettings } from '../service/session.ts';
import { estimateTokens, messageTokens } from '../service/token-estimate.ts';

interface ContextWindow {
  readonly history: readonly ContextMessage[];
  /** The message to answer, after the earlier messages that got no reply. */
  readonly message: string;
  /** How many turns of the session are left out because the token budget has no room for them. */
  readonly turnsLeftOut: number;
}

/** The newest `limit` messages before a position, the oldest first. */
export type ReadHistory = (before: number, limit: number) => Promise<readonly Message[]>;

/** The limits of what an engine reads. */
export type ContextBudget = Pick<ReplyEngine, 'historyMessages' | 'contextTokens'>;

/** How many messages are read at first, and at most, at a time. */
const firstPage = 32;
const maxPage = 256;

/** The context of the message at `position`. The system prompt of its session takes a part of the budget. */
export async function contextWindow(
  read: ReadHistory,
  position: number,
  message: string,
  engine: ContextBudget,
  settings: Pick<SessionSettings, 'system'> = noSettings,
): Promise<ContextWindow> {
  if (position === 0 || engine.historyMessages === 0) return { history: [], message, turnsLeftOut: 0 };
  if (engine.contextTokens === undefined) {
    const newest = await read(position, engine.historyMessages);
    const start = newest[0]?.role === 'assistant' ? 1 : 0;
    return { history: newest.slice(start).map(toContext), message, turnsLeftOut: 0 };
  }
  const { system } = settings;
  const systemTokens = system === null ? 0 : messageTokens(estimateTokens(system));
  const messageAndSystem = systemTokens + messageTokens(estimateTokens(message));
  const budget = new TokenBudget(engine.contextTokens - messageAndSystem);
  const end = position > 2 ? 2 : 0;
  // Both reads are sent together, so that they take one round trip to a database.
  const [first, newest] = await Promise.all([
    end > 0 ? read(2, 2) : [],
    read(position, Math.min(firstPage, position - end)),
  ]);
  const turns: (readonly Message[])[] = [];
  let hasFirst = false;
  let before = position;
  for (let limit = firstPage; before > end && !budget.isUsedUp; limit = Math.min(limit * 2, maxPage)) {
    const page = before === position ? newest : await read(before, Math.min(limit, before - end));
    if (page.length < 2) break;
    for (let at = page.length; at >= 2; at -= 2) {
      const turn = page.slice(at - 2, at);
      if (!budget.take(turn)) break;
      turns.push(turn);
      before = turn[0]?.position ?? 0;
      // The order of importance is: the newest turn, the session's first turn, the turns in between. A first turn that does not fit is left
      // out.
      if (turns.length === 1 && first.length > 0) hasFirst = budget.takeIfItFits(first);
    }
  }
  if (turns.length === 0 && first.length > 0) hasFirst = budget.takeIfItFits(first);
  const history = [...(hasFirst ? [first] : []), ...turns.reverse()];
  return { turnsLeftOut: position / 2 - history.length, ...joinUnanswered(history, message) };
}

/**
 * Leaves out turns that failed before the first word: they have no reply, and a model would treat an invented reply as its own. The message
 * of such a turn is not lost: it becomes a paragraph before the next message, so that the two sides alternate. A message that repeats the
 * one before it word for word is used once. Joined texts take no more tokens than separate turns.
 */
function joinUnanswered(
  turns: readonly (readonly Message[])[],
  message: string,
): Pick<ContextWindow, 'history' | 'message'> {
  const history: ContextMessage[] = [];
  let unanswered: readonly string[] = [];
  const withUnanswered = (text: string) => [...unanswered, ...(unanswered.at(-1) === text ? [] : [text])];
  for (const [userMessage, reply] of turns) {
    if (userMessage === undefined || reply === undefined) continue;
    const texts = withUnanswered(userMessage.content);
    const answer = toContext(reply);
    if (answer.cut && answer.content === '') {
      unanswered = texts;
      continue;
    }
    unanswered = [];
    history.push({ ...toContext(userMessage), content: texts.join('\n\n') }, answer);
  }
  return { history, message: withUnanswered(message).join('\n\n') };
}

/** The tokens that are left of a budget. */
class TokenBudget {
  #tokens: number;
  /** True once a turn did not fit. Older turns are not tried then, so that no turn in between is missing. */
  isUsedUp = false;

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  take(turn: readonly Message[]): boolean {
    this.isUsedUp = !this.takeIfItFits(turn);
    return !this.isUsedUp;
  }

  takeIfItFits(turn: readonly Message[]): boolean {
    const tokens = turn.reduce((sum, message) => sum + tokensOf(message), 0);
    const fits = tokens <= this.#tokens;
    if (fits) this.#tokens -= tokens;
    return fits;
  }
}

/** A token count below this share of the estimate is ignored as wrong, because no tokenizer makes so few tokens of a text. */
const minShare = 1 / 4;

/**
 * The tokens of a message: the smaller of the engine's count and the estimate. An engine's count may include reasoning, which is not in the
 * text.
 */
function tokensOf({ content, usage }: Message): number {
  const estimatedTokens = estimateTokens(content);
  const countedTokens = usage?.output_tokens ?? estimatedTokens;
  const isLikely = countedTokens >= estimatedTokens * minShare;
  return messageTokens(isLikely ? Math.min(countedTokens, estimatedTokens) : estimatedTokens);
}

function toContext(message: Message): ContextMessage {
  return { role: message.role, content: message.content, cut: isCut(message) };
}
