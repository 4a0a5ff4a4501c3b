// Checks a request against its schema, and names every fault by its field. No value is converted, except in the query, whose strings are
// read as the numbers and booleans that the schema requires.
import { z } from 'zod';
import { type ErrorDetail, ParleyError } from '../service/errors.ts';

/** The most faults that are listed. */
const maxFaults = 20;
/** The most characters of a field's name that are shown. */
const maxNameCharacters = 80;

/** Throws `INVALID_REQUEST` for a value that does not match the schema. */
export function checkShape<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues.flatMap((issue) => faultsOf(issue, value)));
}

/** `INVALID_REQUEST` with the first fault in its message and at most {@link maxFaults} faults in `details`. */
export function invalidRequest(
  details: readonly ErrorDetail[],
  hint = 'See /docs for the fields of this request.',
): ParleyError {
  const [first, ...others] = details;
  const more = others.length === 0 ? '' : ` See details for ${others.length} more.`;
  return new ParleyError('INVALID_REQUEST', `The field ${first?.field} ${first?.problem}.${more}`, {
    hint,
    details: details.slice(0, maxFaults),
  });
}

/** Returns a parser of queries for a schema. The parser takes the query of a URL without its question mark. */
export function queryReader<Schema extends z.ZodObject>(schema: Schema): (text: string) => z.output<Schema> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' });
  const types = new Map(
    Object.entries(properties).map(([name, property]) => [
      name,
      typeof property === 'object' ? property.type : undefined,
    ]),
  );
  return (text) => {
    const values = new Map<string, unknown>();
    for (const [name, value] of new URLSearchParams(text)) {
      if (values.has(name)) throw invalidRequest([{ field: shorten(name), problem: 'occurs twice' }]);
      values.set(name, convert(value, types.get(name)));
    }
    return checkShape(schema, Object.fromEntries(values));
  };
}

/** The error for a field `name` that the value at `path` cannot have. */
export function unknownField(path: string, name: string): ParleyError {
  return invalidRequest([{ field: shorten(`${path}.${name}`), problem: unknownFieldProblem }]);
}

function convert(text: string, type: unknown): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

const unknownFieldProblem = 'is not a field of this request';

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

function faultsOf(issue: z.core.$ZodIssue, value: unknown): readonly ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key]),
      problem: unknownFieldProblem,
    }));
  }
  const field = fieldName(issue.path);
  if (issue.code === 'invalid_value') {
    return [{ field, problem: `must be one of: ${issue.values.map(String).join(', ')}` }];
  }
  if (issue.code !== 'invalid_type') return [{ field, problem: 'has an invalid format' }];
  const actual = issue.path.reduce<unknown>((whole, step) => memberOf(whole, step), value);
  if (actual === undefined) return [{ field, problem: 'is missing' }];
  return [{ field, problem: `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(actual)}` }];
}

function memberOf(whole: unknown, step: PropertyKey): unknown {
  return typeof whole === 'object' && whole !== null ? Reflect.get(whole, step) : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return kinds[Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
}

/** Names such as `title`, `session_ids[3]`, `messages[0].role`; `body` for the request as a whole. */
function fieldName(path: readonly PropertyKey[]): string {
  const name = path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at > 0 ? '.' : ''}${String(step)}`))
    .join('');
  return name === '' && path.length === 0 ? 'body' : shorten(name);
}

function shorten(name: string): string {
  return name.length <= maxNameCharacters ? name : `${name.slice(0, maxNameCharacters)}…`;
}
