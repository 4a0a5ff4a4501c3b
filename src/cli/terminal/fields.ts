// Prints a record for a person: one line a field.
import { ExactNumber } from '../../service/exact-number.ts';

/** Returns `name: value` for each field, with nested fields as `outer.name: value`. Each line ends in a newline. */
export function fieldLines(value: unknown, path = ''): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return `${path}: ${value === null ? '' : String(value)}\n`;
  return Object.entries(value)
    .map(([name, inner]) => fieldLines(inner, path === '' ? name : `${path}.${name}`))
    .join('');
}

/** The same without empty fields. */
export function filledFieldLines(record: object): string {
  return fieldLines(Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')));
}
