// A record for a person: a line a field.

/** `name: value` for each field, nested ones as `outer.name: value`; each line ends in a newline. */
export function fieldLines(value: unknown, path = ''): string {
  if (typeof value !== 'object' || value === null) return `${path}: ${value === null ? '' : String(value)}\n`;
  return Object.entries(value)
    .map(([name, inner]) => fieldLines(inner, path === '' ? name : `${path}.${name}`))
    .join('');
}

/** The same, without the fields that are empty. */
export function filledFieldLines(record: object): string {
  return fieldLines(Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')));
}
