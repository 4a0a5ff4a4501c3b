// A failure at the prompt: one line, what it was and what to do next; the conversation goes on.
import type { ErrorCode } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { asParleyError, furtherHint } from '../error-report.ts';
import { oneLine } from '../terminal/filter.ts';
import { Interrupted } from '../terminal/prompt.ts';

/** Ctrl-C while something was done: no failure, and not the end. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What a person did, and no trouble. */
export function isStop(error: unknown): boolean {
  return error instanceof Stopped || error instanceof Interrupted;
}

export async function tellTrouble(error: unknown, context: CliContext): Promise<void> {
  const failure = asParleyError(error);
  const hint = [failure.hint || (hints[failure.code] ?? ''), furtherHint(failure, context)]
    .filter((part) => part !== '')
    .join(' ');
  const line = oneLine(`${failure.message} (${failure.code}) ${hint}`.trim());
  const { red } = await context.stderr.style();
  await context.stderr.write(`${red(context.stderr.visible(line))}\n`);
  if (context.options.debug) await context.stderr.writeUntrusted(`${failure.stack}\n`);
}

const again = '/retry sends it again.';

/** Where the failure itself does not say. */
const hints: Partial<Record<ErrorCode, string>> = {
  SESSION_NOT_FOUND: '/restore brings a deleted session back, /new starts another.',
  UNKNOWN_MODE: '/mode chooses another.',
  NETWORK: again,
  TIMEOUT: again,
  UNAVAILABLE: again,
  INCOMPLETE_REPLY: again,
  ENGINE_FAILED: again,
  ENGINE_TIMEOUT: again,
  STORE_BUSY: again,
};
