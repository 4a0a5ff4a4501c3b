// The error for a store with a newer schema than this program knows.
import manifest from '../../package.json' with { type: 'json' };
import { ParleyError } from '../service/errors.ts';

interface NewerSchema {
  readonly version: number;
  /** The newest schema that this program knows. */
  readonly newest: number;
  /** The version of Parley that brought this schema; null if unknown. */
  readonly parleyVersion: string | null;
}

/** The error `STORE_NEWER`. `ownVersion`: the version of this program. */
export function newerStore(
  place: string,
  { version, newest, parleyVersion }: NewerSchema,
  ownVersion = manifest.version,
): ParleyError {
  const [maker, remedy] = makerAndRemedy(parleyVersion, ownVersion);
  return new ParleyError(
    'STORE_NEWER',
    `The store ${place} has schema ${version}, made by ${maker}; this Parley knows schema ${newest}.`,
    { hint: `Use ${remedy}. The store was not changed.` },
  );
}

/** A build between two releases may have a newer schema than another build with the same number. Then the number does not help. */
function makerAndRemedy(needed: string | null, ownVersion: string): [maker: string, remedy: string] {
  if (needed === null) return ['a newer Parley', 'a newer Parley'];
  if (needed.localeCompare(ownVersion, 'en', { numeric: true }) > 0)
    return [`Parley ${needed} or newer`, `Parley ${needed} or newer (\`npm install -g parley-cli@latest\`)`];
  return [`a later build of Parley ${needed}`, 'that build, or a later one'];
}
