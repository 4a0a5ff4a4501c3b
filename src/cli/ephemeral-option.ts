// The option for a conversation of which no text is kept, and what cannot be combined with it.
import { ParleyError } from '../service/errors.ts';

export const ephemeralFlag = '--ephemeral';

export const ephemeralDescription =
  'write no text of this conversation to any file; it is gone when the command ends';

/** Throws `USAGE` for the first of these options that was given: each needs something that is kept. */
export function requireNothingKept(
  isEphemeral: boolean,
  given: readonly (readonly [flag: string, isGiven: boolean, remedy: string])[],
): void {
  const [conflict] = isEphemeral ? given.filter(([, isGiven]) => isGiven) : [];
  if (conflict === undefined) return;
  const [flag, , remedy] = conflict;
  throw new ParleyError('USAGE', `${ephemeralFlag} and ${flag} cannot be used together.`, { hint: remedy });
}

export const aboutContinuing = `A session that exists is kept with all that is said in it. Leave out ${ephemeralFlag} to go on with it, or the session to begin a conversation of which nothing is kept.`;

/** A server keeps what is sent to it. */
export function keptElsewhere(url: string): ParleyError {
  return new ParleyError('UNSUPPORTED', `${url} keeps the text of every chat; nothing was sent to it.`, {
    hint: `${ephemeralFlag} is for the service on this machine: add --profile local, or --store for a store in PostgreSQL.`,
  });
}

/** An editor works on a file. */
export function noEditor(): ParleyError {
  return new ParleyError(
    'USAGE',
    'An editor would write the text to a file, and nothing of it is to be kept.',
    {
      hint: 'Type the message here: Alt-Enter begins another line.',
    },
  );
}

/** The failure of a turn that cannot be read again. */
export function withoutSession(error: unknown): unknown {
  const isOfReply = error instanceof ParleyError && error.code === 'SCHEMA_MISMATCH';
  return isOfReply ? error.with({ hint: 'No text of the turn is kept.' }) : error;
}
