// How a failure is told: what failed with its code, then what to do next; as JSON on stdout where JSON was asked for.
import { unforeseenFileFailure } from '../config/file-failure.ts';
import { clientErrorCodes, ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { exitStatusOf } from './exit-codes.ts';
import { Interruption } from './interruption.ts';
import { nextStep } from './next-step.ts';
import { placeOptions } from './same-place.ts';
import { filterText } from './terminal/filter.ts';
import { toJson } from './terminal/json.ts';

/** Reports a failure and returns the exit status that it means. */
export async function reportFailure(error: unknown, context: CliContext): Promise<number> {
  if (error instanceof Interruption) return error.exitStatus;
  const failure = asParleyError(error);
  if (context.options.json) {
    const arisesHere = (clientErrorCodes as readonly string[]).includes(failure.code);
    // A service's own failures are told as a server would tell them; those of this side say what to type.
    const told = arisesHere ? failure.with({ hint: nextStep(failure), remedy: null }) : failure;
    const body = failureBody(told, arisesHere ? null : context.requestId);
    await context.stdout.write(`${toJson(body)}\n`).catch(() => {
      // Then stdout is what failed, or fails as well; the line below says so.
    });
  }
  return tellFailure(failure, context);
}

/** The same in words alone. */
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

/** A failure that no command is left to report, as a terminal may show it, and the exit status that it means. */
export function describeFailure(error: unknown): { readonly text: string; readonly status: number } {
  const failure = asParleyError(error);
  return { text: filterText(failureText(failure, 'parley')), status: exitStatusOf(failure.code) };
}

function failureText(failure: ParleyError, commandPath: string): string {
  const hint = nextStep(failure) || usualHint(failure, commandPath);
  return `parley: ${failure.message} (${failure.code})\n${hint && `${hint}\n`}`;
}

/** Where another key is put, when this one is refused; how a store is begun in place of one that is away. */
export function furtherHint({ code }: ParleyError, context: CliContext): string {
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
  // A login that was refused has made no profile yet, whose URL could be used.
  const { ca } = context.options;
  const place =
    sources.url === `profile ${profile}`
      ? ['--profile', profile ?? '']
      : placeOptions({ profile, url, insecureHttp, ca });
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

/** What to do next where the failure itself does not say. */
function usualHint({ code }: ParleyError, commandPath: string): string {
  if (code === 'USAGE') return `See: ${commandPath} --help`;
  return code === 'SESSION_NOT_FOUND' ? 'See the sessions there are with: parley sessions list' : '';
}
