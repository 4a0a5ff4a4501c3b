// How a turn that a model failed in can be repeated: its error names the command for it. That command spells out place, mode, session
// and key, so that it repeats the same turn whatever has become the default, or the last session, by the time it is run.
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { JsonFlag } from './chat-plan.ts';
import type { CliContext } from './context.ts';
import { nextStep } from './next-step.ts';
import { type PlaceGiven, placeOptions } from './same-place.ts';

export interface RetriedChat {
  readonly words: readonly string[];
  readonly title: string | null;
  readonly reasoning: boolean;
  readonly usage: boolean;
  /** The form of its output; null for text. */
  readonly format: JsonFlag | null;
  readonly mode: string;
  /** The session that it went on with; null for one of its own. */
  readonly session: string | null;
  /** True when the words alone are not the message: files or stdin went into it. */
  readonly hasMore: boolean;
  readonly key: string;
}

/** Words that are longer are not printed again. */
const mostCharacters = 200;
const modelFailures: readonly ErrorCode[] = [
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'RATE_LIMITED',
  'UNAVAILABLE',
];

/**
 * The failure of a model, with the command that asks it again: under the same key the message that is kept gets its reply, and no
 * message is kept twice. Any other failure comes back as it is.
 */
export function withRetryCommand(
  error: unknown,
  chat: RetriedChat,
  { options, requestId }: CliContext,
): unknown {
  if (!(error instanceof ParleyError) || !modelFailures.includes(error.code)) return error;
  return error.with({
    hint: `${nextStep(error)}\nAsk again, with nothing kept twice: ${retryCommand(chat, options)}`.trim(),
    remedy: null,
    // The service's body stays as it is; the command is for people, and for the log of a script.
    body: failureBody(error, requestId),
  });
}

function retryCommand(chat: RetriedChat, place: PlaceGiven): string {
  const { mode, session, title, key } = chat;
  const words = chat.words.join(' ');
  const fixed = ['--idempotency-key', key, '-m', quoteForShell(mode)];
  if (session !== null) fixed.push('-s', quoteForShell(session));
  const isShort = words !== '' && words.length <= mostCharacters && !/\p{Cc}/u.test(words);
  if (!isShort || chat.hasMore) {
    const other = session === null ? '' : ' (and without -c)';
    return `the same command with ${fixed.join(' ')}${other}`;
  }
  const flags = [
    ...placeOptions(place).map(quoteForShell),
    title !== null && `--title ${quoteForShell(title)}`,
    chat.format,
    chat.usage && '--usage',
    chat.reasoning && '--reasoning',
    '-n',
    words.startsWith('-') && '--',
  ];
  return ['parley chat', ...fixed, ...flags.filter(Boolean), quoteForShell(words)].join(' ');
}
