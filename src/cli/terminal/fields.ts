// Formats a record for people: one line a field. Further lines of a value are indented, so that no value looks like another field.
import { ExactNumber } from '../../service/exact-number.ts';
import { oneLine } from './filter.ts';

type FormatTime = (time: string) => string;

const isTimeName = /_(at|before)$/;
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Returns `name: value` for each field, with nested fields as `outer.name: value`. Each line ends in a newline. `formatTime` formats the
 * fields that are times.
 */
export function fieldLines(value: unknown, formatTime: FormatTime = unchanged, path = ''): string {
  if (typeof value === 'string' && isTimeName.test(path) && isTime.test(value))
    return `${path}: ${formatTime(value)}\n`;
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return `${path}: ${value === null ? '' : indentLines(String(value))}\n`;
  return Object.entries(value)
    .map(([name, inner]) =>
      fieldLines(inner, formatTime, path === '' ? oneLine(name) : `${path}.${oneLine(name)}`),
    )
    .join('');
}

/** The same without empty fields. */
export function filledFieldLines(record: object, formatTime: FormatTime = unchanged): string {
  const filled = Object.entries(record).filter(([, value]) => value !== '');
  return fieldLines(Object.fromEntries(filled), formatTime);
}

function unchanged(time: string): string {
  return time;
}

function indentLines(text: string): string {
  return text.replace(/\r?\n/g, '\n  ');
}
