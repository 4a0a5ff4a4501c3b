// Reads the shapes in docs/json.md, and compares values with them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Fields by path (`data.items[].title`), with their type as it is written. */
export type Shape = ReadonlyMap<string, string>;

const document = fileURLToPath(new URL('../../docs/json.md', import.meta.url));

/** By heading, without backticks: `parley models`, `A failure`. */
export function readShapes(): ReadonlyMap<string, Shape> {
  const [, ...sections] = readFileSync(document, 'utf8').split(/^## /m);
  return new Map(
    sections.map((section) => {
      const title = section.slice(0, section.indexOf('\n')).replaceAll('`', '');
      const rows = section.matchAll(/^\| `([^`]+)` \| ([^|]+) \| /gm);
      return [title, new Map(Array.from(rows, ([, path = '', type = '']) => [path, type.trim()]))] as const;
    }),
  );
}

/** The differences between a value and its documented shape; empty if they agree. */
export function differences(value: unknown, shape: Shape): readonly string[] {
  const found = new Map<string, unknown[]>();
  collect(value, '', found);
  const faults: string[] = [];
  for (const [path, values] of found) {
    const type = shape.get(path);
    if (type !== undefined) {
      for (const one of values)
        if (!isOfType(one, type)) faults.push(`${path} is not ${type}: ${JSON.stringify(one)}`);
    } else if (!isParent(path, shape) && !isInFreeObject(path, shape)) {
      faults.push(`${path} is not listed`);
    }
  }
  for (const [path, type] of shape) {
    if (!type.endsWith(', optional') && !everyParentHas(value, path.split('.')))
      faults.push(`${path} is missing`);
  }
  return faults;
}

function collect(value: unknown, path: string, found: Map<string, unknown[]>): void {
  if (path !== '') found.set(path, [...(found.get(path) ?? []), value]);
  if (Array.isArray(value)) for (const item of value) collect(item, `${path}[]`, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value))
      collect(inner, path === '' ? name : `${path}.${name}`, found);
  }
}

function isParent(path: string, shape: Shape): boolean {
  return [...shape.keys()].some((one) => one.startsWith(`${path}.`) || one.startsWith(`${path}[]`));
}

/** True for a field of an object whose fields the document does not list. */
function isInFreeObject(path: string, shape: Shape): boolean {
  return [...shape].some(
    ([one, type]) => type === 'object' && path.startsWith(`${one}.`) && !isParent(one, shape),
  );
}

function everyParentHas(value: unknown, [step = '', ...rest]: readonly string[]): boolean {
  const name = step.replace(/\[\]$/, '');
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  const inner = (value as Record<string, unknown>)[name];
  const items = step.endsWith('[]') ? inner : [inner];
  return Array.isArray(items) && (rest.length === 0 || items.every((item) => everyParentHas(item, rest)));
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  null: (value) => value === null,
};

function isOfType(value: unknown, type: string): boolean {
  return type
    .replace(/, optional$/, '')
    .split(' or ')
    .some((name) => {
      const check = types[name];
      if (check === undefined) throw new Error(`docs/json.md names a type that is none: ${name}`);
      return check(value);
    });
}
