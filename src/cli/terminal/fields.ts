// Prints a record for a person: one line a field. Further lines of a value are indented, so that no value looks like another field.
import { ExactNumber } from '../../service/exact-number.ts';
import { oneLine } from './filter.ts';

/** Returns `name: value` for each field, with nested fields as `outer.name: value`. Each line ends in a newline. */
export function fieldLines(value: unknown, path = ''): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return `${path}: ${value === null ? '' : indented(String(value))}\n`;
  return Object.entries(value)
    .map(([name, inner]) => fieldLines(inner, path === '' ? oneLine(name) : `${path}.${oneLine(name)}`))
    .join('');
}

/** The same without empty fields. */
export function filledFieldLines(record: object): string {
  return fieldLines(Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')));
}

function indented(text: string): string {
  return text.replace(/\r?\n/g, '\n  ');
}
