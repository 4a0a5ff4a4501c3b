// JSON Pointer (RFC 6901): the name of one place in a JSON value.

/** The field names from the root to the place; null for a text that is not a pointer. */
export function readPointer(pointer: string): readonly string[] | null {
  if (pointer !== '' && !pointer.startsWith('/')) return null;
  if (/~(?![01])/.test(pointer)) return null;
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at the place; undefined if the place does not exist. */
export function valueAt(value: unknown, names: readonly string[]): unknown {
  let place = value;
  for (const name of names) {
    if (typeof place !== 'object' || place === null) return undefined;
    if (Array.isArray(place) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(place, name)) return undefined;
    place = Reflect.get(place, name);
  }
  return place;
}
