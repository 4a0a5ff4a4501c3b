// Reports a failure: what failed, with its code, then what to do next. With --json the report is JSON on stdout.

import { clientErrorCodes, ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { unforeseenFileFailure } from '../system/file-failure.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { exitStatusOf } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { nextStep } from './next-step.ts';
import { placeOptions } from './same-place.ts';
import { filterText } from './terminal/filter.ts';
import { toJson } from './terminal/json.ts';

/** Reports a failure and returns its exit status. */
export async function reportFailure(error: unknown, context: CliContext): Promise<number> {
  if (error instanceof Interruption) return error.exitStatus;
  const failure = asParleyError(error);
  if (context.options.json) {
    const arisesHere = (clientErrorCodes as readonly string[]).includes(failure.code);
    // A failure of the service is reported as a server would report it. A failure of the client names the command to type.
    const told = arisesHere ? failure.with({ hint: nextStep(failure), remedy: null }) : failure;
    const body = failureBody(told, arisesHere ? null : context.requestId);
    await context.stdout.write(`${toJson(body)}\n`).catch(() => {
      // Writing to stdout may have failed, or fails now. The line on stderr reports the failure in any case.
    });
  }
  return tellFailure(failure, context);
}

/** Reports a failure in words only. */
export async function tellFailure(error: unknown, context: CliContext): Promise<number> {
  if (error instanceof Interruption) return error.exitStatus;
  const failure = asParleyError(error);
  await context.stderr.write(failureText(failure, context.commandPath) + furtherHint(failure, context));
  if (context.options.debug) {
    const { stack, cause } = failure;
    await context.stderr.write(`${stack}\n${cause instanceof Error ? `${cause.stack}\n` : ''}`);
  }
  return exitStatusOf(failure.code);
}

/** The text and the exit status of a failure that no command can report. The text is safe for a terminal. */
export function describeFailure(error: unknown): { readonly text: string; readonly status: number } {
  const failure = asParleyError(error);
  return { text: filterText(failureText(failure, 'parley')), status: exitStatusOf(failure.code) };
}

function failureText(failure: ParleyError, commandPath: string): string {
  const hint = nextStep(failure) || usualHint(failure, commandPath);
  return `parley: ${failure.message} (${failure.code})\n${hint && `${hint}\n`}`;
}

/** A further hint, from where the command talks to: another key, a new store for a missing one, a mode of one's own. */
export function furtherHint({ code }: ParleyError, context: CliContext): string {
  if (code === 'UNKNOWN_MODE' && context.target.url === null)
    return 'Make one: parley setup, or parley modes add NAME --base-url URL --model MODEL\n';
  if (code === 'STORE_MISSING')
    return 'To begin a new store there: parley keys create --project default --use\n';
  if (code !== 'INVALID_API_KEY') return '';
  const { profile, url, insecureHttp, sources } = context.target;
  if (sources.key === 'PARLEY_API_KEY') {
    return profile === null
      ? 'Set PARLEY_API_KEY to a key of this server.\n'
      : 'Without PARLEY_API_KEY the key of the profile is used.\n';
  }
  if (url === null) return 'Give the profile another: parley keys create --project default --use\n';
  // A refused login has made no profile whose URL could be used.
  const { ca, store, insecureStore } = context.options;
  const place =
    sources.url === `profile ${profile}`
      ? ['--profile', profile ?? '']
      : placeOptions({ profile, url, insecureHttp, store, insecureStore, ca });
  return `Log in with another: ${['parley', 'login', ...place].map(quoteForShell).join(' ')}\n`;
}

export function asParleyError(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const onFile = unforeseenFileFailure(error);
  if (onFile !== null) return onFile;
  const message = error instanceof Error ? error.message : String(error);
  return new ParleyError('INTERNAL_ERROR', `Something unforeseen went wrong: ${message}.`, {
    hint: 'Run it again with --debug to see where.',
    cause: error,
  });
}

/** What to do next if the failure itself does not say it. */
function usualHint({ code }: ParleyError, commandPath: string): string {
  if (code === 'USAGE') return `See: ${commandPath} --help`;
  return code === 'SESSION_NOT_FOUND' ? 'See the sessions there are with: parley sessions list' : '';
}
