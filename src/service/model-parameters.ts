// The rules for the parameters of a model: fields of its request that a mode or a session adds. They are stored as plain text and sent as
// JSON.
import type { Limits } from './limits.ts';
import type { Remedy } from './remedy.ts';

/** What is wrong with parameters. `path` holds the names from the parameters to the faulty field. */
export interface ParameterFault {
  readonly path: readonly string[];
  readonly problem: string;
  readonly remedy?: Remedy;
}

export type Parameters = Readonly<Record<string, unknown>>;

/** The fields that Parley sets itself, and `n`, which would give several replies. */
const ownNames: readonly string[] = ['model', 'messages', 'stream', 'stream_options', 'n'];

/** The names of the fields that limit the tokens of a reply; servers differ. */
const replyLimitFields: readonly string[] = ['max_tokens', 'max_completion_tokens'];

/**
 * Names of fields that would hold a key, which would then be stored as plain text. Names like `prompt_cache_key` are not among them.
 */
const keyName =
  /^(key|token|auth|credentials?)$|(^|[-_.])(api[-_.]?key|authorization|bearer|password|secret|(access|auth)[-_.]?token)$/i;

/** How deep parameters may be nested. A JSON schema for a reply takes about a dozen levels. */
export const maxDepth = 32;

/** The highest temperature that any server takes. */
const maxTemperature = 5;

/** The first fault of the parameters; null for none. */
export function parameterFault(parameters: Parameters): ParameterFault | null {
  for (const [name, value] of Object.entries(parameters)) {
    if (ownNames.includes(name)) return { path: [name], problem: 'cannot be set as a parameter' };
    if (replyLimitFields.includes(name) && !isWhole(value))
      return { path: [name], problem: 'must be a whole number from 1 to 100000000' };
    if (name === 'temperature' && !isTemperature(value))
      return { path: [name], problem: `must be a number from 0 to ${maxTemperature}` };
  }
  return innerFault(parameters, [], 1);
}

/** The fault of the parameters of a session; null for none. They are limited, because lists of sessions hold them. */
export function sessionParameterFault(
  parameters: Parameters,
  { parametersBytes }: Pick<Limits, 'parametersBytes'>,
): ParameterFault | null {
  const fault = parameterFault(parameters);
  if (fault !== null) return fault;
  const bytes = Buffer.byteLength(JSON.stringify(parameters));
  if (bytes <= parametersBytes) return null;
  return { path: [], problem: `takes ${bytes} bytes as JSON; the limit is ${parametersBytes}` };
}

/** A value from YAML may be one that JSON cannot hold, such as a date or an infinity. The server would get something else. */
function innerFault(value: unknown, path: readonly string[], depth: number): ParameterFault | null {
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'string') return textFault(value, path);
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : { path, problem: 'holds a value that JSON cannot hold' };
  if (!isPlain(value)) return { path, problem: 'holds a value that JSON cannot hold' };
  if (depth > maxDepth) return { path, problem: `is nested more than ${maxDepth} levels deep` };
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, name];
    if (!Array.isArray(value)) {
      if (keyName.test(name))
        return {
          path: at,
          problem: 'must not hold a key: parameters are stored as plain text',
          remedy: { kind: 'refer_to_key' },
        };
      const fault = textFault(name, path);
      if (fault !== null) return fault;
    }
    const fault = innerFault(inner, at, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

/** NUL and half of a surrogate pair cannot be stored everywhere. */
function textFault(text: string, path: readonly string[]): ParameterFault | null {
  return text.includes('\0') || !text.isWellFormed() ? { path, problem: 'is not valid text' } : null;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100_000_000;
}

function isTemperature(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= maxTemperature;
}
