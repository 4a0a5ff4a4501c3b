// The failure of a turn, with what helps. After a failure of the model, or of the connection to a server, that is the command that repeats
// the turn. It names target, mode, session and key, so it repeats the same turn even if the defaults or the last session have changed.
import type { ChatRequest } from '../service/chat-event.ts';
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { ChatInput } from './chat-plan.ts';
import type { TurnOutcome } from './chat-turn.ts';
import type { CliContext, GlobalOptions } from './context.ts';
import { withoutSession } from './ephemeral-option.ts';
import { withModeOfSession } from './mode-choice.ts';
import { nextStep } from './next-step.ts';
import { defaultRepairs } from './schema/open-rule.ts';
import { outputOptions, targetOptions } from './target-options.ts';

/** `session` is the session that the turn continued: with `fork`, the copy; null for a new one. */
interface RetriedChat extends Omit<ChatInput, 'mode' | 'session'> {
  readonly mode: string;
  readonly session: string | null;
  /** True if the words alone do not reproduce the turn. */
  readonly hasMore: boolean;
  readonly key: string;
}

/** Longer messages are not printed again. */
const maxCharacters = 200;
const modelFailures: readonly ErrorCode[] = [
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'RATE_LIMITED',
  'UNAVAILABLE',
];

/** The command of these is printed only if the server is known to honour idempotency keys: it may have stored the message. */
const connectionFailures: readonly ErrorCode[] = ['INCOMPLETE_REPLY', 'NETWORK', 'TIMEOUT'];

interface FailedTurn {
  readonly request: ChatRequest;
  readonly previousMode: string | null;
  /** Empty if the service did not begin the turn. */
  readonly mode: string;
  readonly key: string;
  readonly hasMore: boolean;
  /** True if the service is known to honour idempotency keys. */
  readonly honoursKeys: boolean;
}

/** The failure of a turn, with the mode of the session or the command that repeats the turn, if one of them helps. */
export async function failureOfTurn(
  { error, session, hasText }: Extract<TurnOutcome, { kind: 'failed' }>,
  { request, previousMode, mode, key, hasMore, honoursKeys }: FailedTurn,
  input: ChatInput,
  context: CliContext,
): Promise<unknown> {
  const { session_id: sessionId } = request;
  if (session === null) {
    if (request.mode === null || request.mode !== previousMode || sessionId === null) return error;
    return withModeOfSession(error, { mode: request.mode, sessionId }, '-m MODE');
  }
  // An ephemeral session ends with the process, so there is nothing to resume or retry.
  if (input.ephemeral) return withoutSession(error);
  if ((context.signal.aborted || context.stdout.gone.aborted) && !isOfService(error))
    await context.say(`Stopped. The ${hasText ? 'reply so far' : 'message'} is kept in session ${session}.`);
  if (!(error instanceof ParleyError)) return error;
  const codes = honoursKeys ? [...modelFailures, ...connectionFailures] : modelFailures;
  return codes.includes(error.code)
    ? withRetryCommand(error, { ...input, mode, session: sessionId, hasMore, key }, context)
    : error;
}

/** True for a failure that the service reports with a session. After a stop, such a failure says that the reply is not kept. */
function isOfService(error: unknown): boolean {
  return error instanceof ParleyError && error.session_id !== null;
}

/**
 * Adds the command to a failure. It uses the same idempotency key: the stored message gets its reply, and no message is stored twice.
 */
function withRetryCommand(
  error: ParleyError,
  chat: RetriedChat,
  { options, requestId }: CliContext,
): ParleyError {
  const step = nextStep(error)
    .replace(/\bTry again\.$/, '')
    .trim();
  return error.with({
    hint: `${step}\nTry again without storing anything twice: ${retryCommand(chat, options)}`.trim(),
    remedy: null,
    // The body of the service stays unchanged. The command is for people, and for the log of a script.
    body: failureBody(error, requestId),
  });
}

function retryCommand(chat: RetriedChat, options: GlobalOptions): string {
  const { mode, session, title, user, key } = chat;
  const words = chat.words.join(' ');
  const fixed = ['--idempotency-key', key, '-m', quoteForShell(mode)];
  if (session !== null) fixed.push('-s', quoteForShell(session));
  const isShort = words !== '' && words.length <= maxCharacters && !/\p{Cc}/u.test(words);
  if (!isShort || chat.hasMore) {
    const replaced = [chat.continue && '-c', chat.fork && '--fork'].filter(Boolean).join(' and ');
    const other = replaced === '' ? '' : ` (but without ${replaced})`;
    return `the same command with ${fixed.join(' ')}${other}`;
  }
  const flags = [
    ...targetOptions(options).map(quoteForShell),
    title !== undefined && `--title ${quoteForShell(title)}`,
    user !== undefined && `--user ${quoteForShell(user)}`,
    ...outputOptions(options).map(quoteForShell),
    chat.jsonStream && '--json-stream',
    chat.extractCode !== undefined && `--extract-code=${chat.extractCode}`,
    chat.usage && '--usage',
    chat.reasoning && '--reasoning',
    chat.schema !== undefined &&
      `--schema ${quoteForShell(chat.schema)} --repair ${chat.repair ?? defaultRepairs}`,
    '-n',
    words.startsWith('-') && '--',
  ];
  return ['parley chat', ...fixed, ...flags.filter(Boolean), quoteForShell(words)].join(' ');
}
