// The administration of a command's store. A remote server can only be administered on its own machine.
import type { Administration } from '../service/administration.ts';
import type { Backend } from '../service/backend.ts';
import { ParleyError } from '../service/errors.ts';

/** Throws `UNSUPPORTED` for a backend without administration. */
export function administrationOf({ administration }: Backend, url: string | null): Administration {
  if (administration === null) throw administeredElsewhere(url ?? 'The server');
  return administration;
}

export function administeredElsewhere(url: string): ParleyError {
  return new ParleyError(
    'UNSUPPORTED',
    `${url} can only be administered on its own machine, not over HTTP.`,
    {
      hint: 'Run this command there, or add --profile local to use the embedded service on this machine.',
    },
  );
}
