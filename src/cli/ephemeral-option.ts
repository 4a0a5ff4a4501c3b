// The option `--ephemeral`: no text of the conversation is kept. Also its errors and the options that it excludes.
import { hasCode, ParleyError } from '../service/errors.ts';

export const ephemeralFlag = '--ephemeral';

export const ephemeralDescription =
  'write no text of this conversation to disk; it is gone when the command ends';

/** Throws `USAGE` for the first of these options that is set: each needs text that is kept. */
export function checkEphemeralConflicts(
  isEphemeral: boolean | undefined,
  options: readonly (readonly [flag: string, isSet: boolean | undefined, hint: string])[],
): void {
  const [conflict] = isEphemeral ? options.filter(([, isSet]) => isSet) : [];
  if (conflict === undefined) return;
  const [flag, , hint] = conflict;
  throw new ParleyError('USAGE', `${ephemeralFlag} and ${flag} cannot be used together.`, { hint });
}

export const continuingHint = `An existing session keeps its text. Remove ${ephemeralFlag} to continue the session, or remove the session to start an ephemeral conversation.`;

/** A server keeps what is sent to it. */
export function serverKeepsText(url: string): ParleyError {
  return new ParleyError('UNSUPPORTED', `${url} keeps the text of every chat. Nothing was sent to it.`, {
    hint: `${ephemeralFlag} works with the service on this machine only: add --profile local, or --store for a store in PostgreSQL.`,
  });
}

export function noEditor(): ParleyError {
  return new ParleyError(
    'USAGE',
    'An editor is not available in an ephemeral conversation: it would write the text to a file.',
    {
      hint: 'Type the message here: Alt-Enter starts another line.',
    },
  );
}

/** The failure of an ephemeral turn, without a hint that points to its session. */
export function withoutSession(error: unknown): unknown {
  const isMismatch = hasCode(error, 'SCHEMA_MISMATCH');
  return isMismatch ? error.with({ hint: 'No text of the turn is kept.' }) : error;
}
