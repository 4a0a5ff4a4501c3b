// Reports a failure at the prompt in one paragraph: what failed and what to do next. The conversation continues.
import type { ErrorCode } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { asParleyError, furtherHint } from '../error-report.ts';
import { Interruption } from '../interruption.ts';
import { nextStep } from '../next-step.ts';
import { oneLine } from '../terminal/filter.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { wrappedLine } from './wrapped-line.ts';

/** True if a person stopped the work, which is no failure. */
export function isStop(error: unknown): boolean {
  return error instanceof Interruption && error.scope === 'line';
}

/**
 * `next` says what sends the failed message again, or is null if no message failed. `makeRoom` says how to enter another line first.
 * `recall` says how to get a stopped message back, and is empty if only /retry does that.
 */
export interface FailedMessage {
  readonly next: string | null;
  readonly makeRoom: string;
  readonly recall: string;
}

const noMessage: FailedMessage = { next: null, makeRoom: '', recall: '' };

export async function tellTrouble(
  error: unknown,
  context: CliContext,
  { next, makeRoom }: FailedMessage = noMessage,
): Promise<void> {
  const failure = asParleyError(error);
  const again = next !== null && mayPass.has(failure.code) ? next : '';
  const step = nextStep(failure);
  const hint = again === '' ? step : step.replace(/\bTry again\.$/, '').trim();
  const remedy = slashCommand.test(hint) || commandAtEnd.test(hint) ? '' : (remedies[failure.code] ?? '');
  const advice = [hint, remedy, furtherHint(failure, context)];
  const told = [`${failure.message} (${failure.code})`, ...advice].filter((part) => part.trim() !== '');
  // A command is typed at an empty prompt, where the message may stand.
  const last = slashCommand.test(advice.join(' ')) ? makeRoom : again;
  const text = oneLine(told.join(' ').trim());
  // A hint that ends in a command to copy is a line of its own.
  const apart = /[.)]$/.test(text) ? ' ' : '\n';
  const { stderr } = context;
  const { red } = await stderr.style();
  const line = await wrappedLine(stderr.visible(last === '' ? text : text + apart + last), stderr);
  await stderr.write(terminalText`${red(line)}\n`);
  if (context.options.debug) await stderr.write(`${failure.stack}\n`);
}

const slashCommand = /(?<![^\s(])\/(?:mode|new|restore|resume|retry|file|sessions)\b/;

/** A command to copy, after which nothing may stand. */
const commandAtEnd = /: parley [^.]*$/;

/** Slash commands that help with an error code. */
const remedies: Partial<Record<ErrorCode, string>> = {
  SESSION_NOT_FOUND: '/restore brings a deleted session back, /new starts another.',
  UNKNOWN_MODE: '/mode NAME goes on in another.',
};

/** True if the same message may succeed later. */
const mayPass: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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
