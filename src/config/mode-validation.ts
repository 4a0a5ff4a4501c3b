// Checks the settings of a mode from the stored configuration, from a file for `serve --modes`, or from options. A fault names its field,
// and never a value that could be a key.
import { ParleyError } from '../service/errors.ts';
import {
  builtInModes,
  defaultModeSettings,
  type JsonValue,
  type ModeSettings,
  thinkTagChoices,
} from '../service/mode-settings.ts';
import { parameterFault } from '../service/model-parameters.ts';
import { quoted } from '../service/quoted.ts';
import type { Remedy } from '../service/remedy.ts';
import { estimateTokens, messageTokens } from '../service/token-estimate.ts';
import { readBaseUrl } from './base-url.ts';
import { checkKeyReference } from './key-reference.ts';

/** A fault in the settings of a mode. `path` holds the field names from the top to the field. */
export class ModeFault extends Error {
  override readonly name = 'ModeFault';
  readonly path: readonly string[];
  readonly hint: string;
  readonly remedy: Remedy | null;

  constructor(path: readonly string[], problem: string, hint = '', remedy: Remedy | null = null) {
    super(problem);
    this.path = path;
    this.hint = hint;
    this.remedy = remedy;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** 1 to 64 of `A-Z a-z 0-9 . _ : -`, the first a letter or digit. */
export function isModeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/.test(name);
}

/** Throws a {@link ModeFault} for the first fault. */
export function readMode(name: string, value: unknown, path: readonly string[]): ModeSettings {
  if (!isModeName(name)) {
    throw new ModeFault(
      path,
      `${quoted(name)} is not a valid mode name`,
      'Use 1 to 64 letters, digits, dots, colons, hyphens and underscores, beginning with a letter or a digit.',
    );
  }
  if (builtInModes.includes(name)) throw new ModeFault(path, `the mode ${name} is built in`);
  const fields = fieldsOf(value, path);
  for (const field of Object.keys(fields)) {
    if (!Object.hasOwn(readers, field)) {
      throw new ModeFault([...path, field], 'is not a setting of a mode', `Settings: ${settingNames}.`);
    }
  }
  const read = <Name extends keyof typeof readers>(field: Name) =>
    readers[field](fields[field], [...path, field]) as ReturnType<(typeof readers)[Name]>;
  const insecure_http = read('insecure_http');
  const hasKey = (fields['key'] ?? null) !== null;
  return {
    name,
    description: read('description'),
    engine: read('engine'),
    base_url: checkUrl(read('base_url'), [...path, 'base_url'], { insecureHttp: insecure_http, hasKey }),
    model: read('model'),
    key: read('key'),
    system: read('system'),
    temperature: read('temperature'),
    parameters: read('parameters'),
    context_tokens: read('context_tokens'),
    fallback: read('fallback'),
    first_token_seconds: read('first_token_seconds'),
    idle_seconds: read('idle_seconds'),
    show_reasoning: read('show_reasoning'),
    think_tags: read('think_tags'),
    insecure_http,
  };
}

/** Checks a mode before it is stored. If its system prompt filled its context, no turn would see the turn before it. */
export function checkSystemPromptFits(
  { system, context_tokens }: ModeSettings,
  path: readonly string[],
): void {
  const tokens = system === null ? 0 : messageTokens(estimateTokens(system));
  if (context_tokens === null || tokens < context_tokens) return;
  throw new ModeFault(
    [...path, 'system'],
    `has about ${tokens} tokens, but the context of the mode has only ${context_tokens}`,
    'Shorten it, or raise context_tokens.',
  );
}

/** A mode as it is stored: without its name, and without the fields that have their default. */
export function storedMode({ name: _, ...settings }: ModeSettings): Readonly<Record<string, JsonValue>> {
  const defaults: Fields = defaultModeSettings;
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(defaults[field]),
    ),
  );
}

/** A fault as the failure of a command. `source` names the file, or another origin of the settings. */
export function modeFailure(fault: ModeFault, code: 'USAGE' | 'CONFIG', source: string | null): ParleyError {
  const field = fault.path.join('.');
  // A fault of the mode as a whole has no field.
  const place = [source, `${field} ${fault.message}.`.trim()].filter(Boolean).join(': ');
  return new ParleyError(code, place, {
    hint: fault.hint,
    remedy: fault.remedy,
    details: [{ field, problem: fault.message }],
    cause: fault,
  });
}

type Reader<T> = (value: unknown, path: readonly string[]) => T;

const readers = {
  description: text(defaultModeSettings.description, 500),
  engine: (value: unknown, path: readonly string[]): 'openai' => {
    if (value === undefined || value === 'openai') return 'openai';
    throw new ModeFault(path, 'must be "openai": an OpenAI-compatible server');
  },
  base_url: requiredText,
  model: requiredText,
  key: (value: unknown, path: readonly string[]): string | null => {
    const reference = textOrNull(value, path);
    const problem = reference === null ? null : checkKeyReference(reference);
    if (problem !== null) throw new ModeFault(path, problem.problem, problem.hint);
    return reference;
  },
  system: textOrNull,
  temperature: optional(null, numberFrom(0, 5)),
  parameters: readParameters,
  context_tokens: optional(null, numberFrom(256, 100_000_000, 'whole ')),
  fallback: textOrNull,
  first_token_seconds: optional(defaultModeSettings.first_token_seconds, numberFrom(0.001, 86_400)),
  idle_seconds: optional(defaultModeSettings.idle_seconds, numberFrom(0.001, 86_400)),
  show_reasoning: flag,
  think_tags: (value: unknown, path: readonly string[]): ModeSettings['think_tags'] => {
    const found = thinkTagChoices.find((choice) => choice === (value ?? defaultModeSettings.think_tags));
    if (found !== undefined) return found;
    throw new ModeFault(path, `must be one of: ${thinkTagChoices.join(', ')}`);
  },
  insecure_http: flag,
} as const;

const settingNames = Object.keys(readers).join(', ');

function readParameters(value: unknown, path: readonly string[]): Readonly<Record<string, JsonValue>> {
  if (value === undefined) return {};
  const fields = fieldsOf(value ?? {}, path);
  // The temperature of a mode is a setting of its own.
  if (Object.hasOwn(fields, 'temperature'))
    throw new ModeFault([...path, 'temperature'], 'cannot be set as a parameter');
  const fault = parameterFault(fields);
  if (fault !== null) throw new ModeFault([...path, ...fault.path], fault.problem, '', fault.remedy ?? null);
  return fields as Readonly<Record<string, JsonValue>>;
}

function checkUrl(
  url: string,
  path: readonly string[],
  options: { readonly insecureHttp: boolean; readonly hasKey: boolean },
): string {
  try {
    return readBaseUrl(url, path.join('.'), options);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const problem = /^The URL of \S+ (.*)\.$/.exec(error.message)?.[1] ?? error.message;
    const remedy: Remedy | null = error.remedy && { kind: 'allow_plain_http', ofMode: true };
    throw new ModeFault(path, problem, error.hint, remedy);
  }
}

export function fieldsOf(value: unknown, path: readonly string[]): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new ModeFault(path, 'is not an object');
}

function requiredText(value: unknown, path: readonly string[]): string {
  if (typeof value === 'string' && value.trim() !== '') return checkedText(value, path);
  throw new ModeFault(path, value === undefined ? 'is missing' : 'must be a non-empty text');
}

function text(defaultValue: string, maxCharacters: number): Reader<string> {
  return (value, path) => {
    const found = textOrNull(value, path) ?? defaultValue;
    if (!/^[ -~]*$/.test(found) && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(found))
      throw new ModeFault(path, 'contains a control character');
    if (found.length > maxCharacters) throw new ModeFault(path, `is longer than ${maxCharacters} characters`);
    return found;
  };
}

function textOrNull(value: unknown, path: readonly string[]): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw new ModeFault(path, 'must be a text');
  return checkedText(value, path);
}

function checkedText(value: string, path: readonly string[]): string {
  if (value.includes('\0') || !value.isWellFormed()) throw new ModeFault(path, 'is not valid text');
  return value;
}

/** Reads a missing value as the default. */
function optional<Default, T>(defaultValue: Default, read: Reader<T>): Reader<Default | T> {
  return (value, path) => (value === undefined || value === null ? defaultValue : read(value, path));
}

function numberFrom(minimum: number, maximum: number, kind: '' | 'whole ' = ''): Reader<number> {
  return (value, path) => {
    const fits = typeof value === 'number' && value >= minimum && value <= maximum;
    if (fits && (kind === '' || Number.isInteger(value))) return value;
    throw new ModeFault(path, `must be a ${kind}number from ${minimum} to ${maximum}`);
  };
}

function flag(value: unknown, path: readonly string[]): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new ModeFault(path, 'must be true or false');
}
