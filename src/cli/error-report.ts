// Reports a failure: the message with its code, then what to do next. With --json, the report is also JSON on stdout.

import { isLocalUrl } from '../config/base-url.ts';
import { resolveMode } from '../config/settings.ts';
import { clientErrorCodes, ParleyError, reasonOf } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { unknownMode } from '../service/unknown-mode.ts';
import { unforeseenFileFailure } from '../system/file-failure.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { exitStatusOf } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { nextStep } from './next-step.ts';
import { targetOptions } from './target-options.ts';
import { filterText } from './terminal/filter.ts';
import { toJson } from './terminal/json.ts';
import { writeNotice } from './terminal/notice.ts';

/** Reports a failure and returns its exit status. */
export async function reportFailure(error: unknown, context: CliContext): Promise<number> {
  if (error instanceof Interruption) return error.exitStatus;
  const failure = asParleyError(error);
  if (context.options.json) {
    const isOfClient = (clientErrorCodes as readonly string[]).includes(failure.code);
    // A failure of the service is reported as a server would report it. A failure of the client names the command to type.
    const reported = isOfClient ? failure.with({ hint: nextStep(failure), remedy: null }) : failure;
    const body = failureBody(reported, isOfClient ? null : context.requestId);
    await context.stdout.write(`${toJson(body)}\n`).catch(() => {
      // Writing to stdout may be what failed. The line on stderr reports the failure in any case.
    });
  }
  return reportInWords(failure, context);
}

/** Reports a failure on stderr only. Returns its exit status. */
export async function reportInWords(error: unknown, context: CliContext): Promise<number> {
  if (error instanceof Interruption) return error.exitStatus;
  const failure = asParleyError(error);
  const text = failureText(failure, context.commandPath) + targetHint(failure, context);
  await writeNotice(text.trimEnd(), context.stderr);
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
  const hint = nextStep(failure) || defaultHint(failure, commandPath);
  return `parley: ${failure.message} (${failure.code})\n${hint && `${hint}\n`}`;
}

/** A hint that depends on the target: another key, a new store, a new mode, or another profile. Empty if there is none. */
export function targetHint({ code, message }: ParleyError, context: CliContext): string {
  if (code === 'UNKNOWN_MODE') {
    const advice =
      context.target.url === null
        ? 'Add a mode: parley setup, or parley modes add NAME --base-url URL --model MODEL\n'
        : '';
    return sourceOfMode(message, context) + advice;
  }
  if (code === 'STORE_MISSING')
    return 'To create a new store there: parley keys create --project default --use\n';
  if (code !== 'INVALID_API_KEY' && code !== 'NETWORK') return '';
  const { profile, url, insecureHttp, sources } = context.target;
  const isOfProfile = sources.url === `profile ${profile}`;
  if (code === 'NETWORK') {
    return isOfProfile && url !== null && isLocalUrl(url)
      ? 'To use the store of this machine without a server: parley profiles use local\n'
      : '';
  }
  if (sources.key === 'PARLEY_API_KEY') {
    return profile === null
      ? 'Set PARLEY_API_KEY to a key of this server.\n'
      : 'Unset PARLEY_API_KEY to use the key of the profile.\n';
  }
  if (url === null) return 'Create another key for the profile: parley keys create --project default --use\n';
  // A refused login has stored no profile that could be named.
  const { ca, store, insecureStore } = context.options;
  const place = isOfProfile
    ? ['--profile', profile ?? '']
    : targetOptions({ profile, url, insecureHttp, store, insecureStore, ca });
  return `Log in with another key: ${['parley', 'login', ...place].map(quoteForShell).join(' ')}\n`;
}

/** Says where the mode in the message comes from, if it is not from an option. */
function sourceOfMode(message: string, { host, target }: CliContext): string {
  const named = resolveMode(null, host.env, target);
  return named !== null && message.startsWith(unknownMode(named.mode, []).message)
    ? `The mode is named by ${named.source}.\n`
    : '';
}

export function asParleyError(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const onFile = unforeseenFileFailure(error);
  if (onFile !== null) return onFile;
  return new ParleyError('INTERNAL_ERROR', `Unexpected error: ${reasonOf(error)}.`, {
    hint: 'Run the command again with --debug to see where it happened.',
    cause: error,
  });
}

/** The hint for a failure that has none of its own. */
function defaultHint({ code }: ParleyError, commandPath: string): string {
  if (code === 'USAGE') return `See: ${commandPath} --help`;
  return code === 'SESSION_NOT_FOUND' ? 'To see the existing sessions: parley sessions list' : '';
}
