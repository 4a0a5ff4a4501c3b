// A failure about a field of a request, in the words of the command line.
import { ParleyError } from '../service/errors.ts';

/** Names what the user typed in place of the field that the service refused. `typedName` returns null for a field that needs no other name. */
export function withTypedName(error: unknown, typedName: (field: string) => string | null): unknown {
  if (!(error instanceof ParleyError)) return error;
  const [detail] = error.details;
  const name = detail === undefined ? null : typedName(detail.field);
  if (detail === undefined || name === null) return error;
  return error.with({ message: `${name} ${detail.problem}.`, hint: 'Nothing was changed.' });
}
