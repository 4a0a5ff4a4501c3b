// Reports a failure at the prompt: what failed and what to do next, in one paragraph, and a list in lines of its own. The conversation continues.
import type { ErrorCode } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { asParleyError, targetHint } from '../error-report.ts';
import { Interruption } from '../interruption.ts';
import { nextStep } from '../next-step.ts';
import { listCommands } from '../session-reference.ts';
import { oneLine } from '../terminal/filter.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { wrappedLine, wrappedNotice } from '../terminal/wrapped-line.ts';

/** True if a person stopped the work, which is no failure. */
export function isStop(error: unknown): boolean {
  return error instanceof Interruption && error.scope === 'line';
}

/** Hints for a message that was not answered. An empty string means that there is no such hint. */
export interface ResendHints {
  /** Says what sends the failed message again. Empty if no message failed. */
  readonly resend: string;
  /** Says how to enter another line before the failed message. */
  readonly clearLine: string;
  /** Says how to get a stopped message back. Empty if only /retry does that. */
  readonly recall: string;
}

export const noResendHints: ResendHints = { resend: '', clearLine: '', recall: '' };

export async function reportReplFailure(
  error: unknown,
  context: CliContext,
  { resend, clearLine }: ResendHints = noResendHints,
): Promise<void> {
  const failure = asParleyError(error);
  const resendHint = retryableCodes.has(failure.code) ? resend : '';
  const step = nextStep(failure).replace(listCommands, '');
  const hint = resendHint === '' ? step : step.replace(/\bTry again\.$/, '').trim();
  const remedy = slashCommand.test(hint) || commandAtEnd.test(hint) ? '' : (remedies[failure.code] ?? '');
  const advice = [hint, remedy, targetHint(failure, context)];
  const parts = [`${failure.message} (${failure.code})`, ...advice].filter((part) => part.trim() !== '');
  // A command needs an empty prompt, and the failed message may be there.
  const lastHint = slashCommand.test(advice.join(' ')) ? clearLine : resendHint;
  const paragraphs = parts.join('\n').trim().split(aroundListItem).map(oneLine);
  // A hint that ends in a command to copy is a line of its own.
  const separator = /[.)]$/.test(paragraphs.at(-1) ?? '') ? ' ' : '\n';
  const text = paragraphs.join('\n') + (lastHint === '' ? '' : separator + lastHint);
  const { stderr } = context;
  const { red } = await stderr.style();
  const lines = stderr
    .visible(text)
    .split('\n')
    .map((line) => (line.startsWith(' ') ? wrappedNotice(line, stderr) : wrappedLine(line, stderr)));
  await stderr.write(terminalText`${red((await Promise.all(lines)).join('\n'))}\n`);
  if (context.options.debug) await stderr.write(`${failure.stack}\n`);
}

/** Matches the line breaks before and after an item of a list, which is indented. */
const aroundListItem = /\n(?= {2})|(?<=\n {2}[^\n]*)\n/;

const slashCommand = /(?<![^\s(])\/(?:mode|new|restore|resume|retry|file|sessions)\b/;

/** A command to copy, after which no text may follow. */
const commandAtEnd = /: parley [^.]*$/;

/** Slash commands that help with an error code. */
const remedies: Partial<Record<ErrorCode, string>> = {
  SESSION_NOT_FOUND: '/restore brings back a deleted session; /new starts a new one.',
  UNKNOWN_MODE: '/mode NAME switches to another mode.',
};

/** True if the same message may succeed later. */
const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NETWORK',
  'TIMEOUT',
  'UNAVAILABLE',
  'RATE_LIMITED',
  'SESSION_BUSY',
  'INCOMPLETE_REPLY',
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'STORE_BUSY',
]);
