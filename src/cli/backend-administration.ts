// The administration of a command's store. A server elsewhere has none here, because it is administered on its own machine.
import type { Administration } from '../service/administration.ts';
import type { Backend } from '../service/backend.ts';
import { ParleyError } from '../service/errors.ts';

/** Throws `UNSUPPORTED` for a backend without administration. */
export function administrationOf({ administration }: Backend, url: string | null): Administration {
  if (administration === null) throw notHere(url ?? 'The server');
  return administration;
}

export function notHere(url: string): ParleyError {
  return new ParleyError('UNSUPPORTED', `${url} is administered on its own machine, never over HTTP.`, {
    hint: 'Run this there; or, for the embedded service of this machine, add --profile local.',
  });
}
