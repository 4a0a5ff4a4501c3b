// Parses the options for a model: its system prompt and its parameters. Modes and sessions share them.
import { InvalidArgumentError } from 'commander';
import { ParleyError } from '../service/errors.ts';
import type { JsonValue } from '../service/mode-settings.ts';
import { readAtMost } from '../system/bounded-file.ts';
import { wholeNumber } from './whole-number.ts';

/** Larger than the context of any model. */
const maxSystemBytes = 8 * 1024 * 1024;

export interface SystemFlags {
  readonly system?: string;
  readonly systemFile?: string;
}

/** The system prompt from `--system` or `--system-file`; undefined if neither is set. */
export async function readSystem(
  { system, systemFile: path }: SystemFlags,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (path === undefined) return system;
  if (system !== undefined)
    throw new ParleyError('USAGE', '--system and --system-file cannot be used together.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readAtMost(path, maxSystemBytes, signal));
  } catch (error) {
    signal.throwIfAborted();
    const { unreadableFile } = await import('./terminal/file-message.ts');
    const cause = error instanceof TypeError ? new Error('it is not UTF-8') : error;
    throw unreadableFile(path, cause, 'Name a text file that you can read.');
  }
}

export function aNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Give a number.');
}

/** The value that removes a setting. Commander also turns null into it. */
export type Unset = '';

export function numberOrNone(text: string): number | Unset {
  return text === '' ? '' : aNumber(text);
}

export function tokensOrNone(text: string): number | Unset {
  return text === '' ? '' : wholeNumber(1)(text);
}

/** A name and its value; undefined removes the parameter. */
export type Parameter = readonly [string, JsonValue | undefined];

/** Collects `name=value`. A value that is not JSON is a string, so `name=word` needs no quotes. */
export function parameters(text: string, before: readonly Parameter[] = []): readonly Parameter[] {
  const parameter = readParameter(text);
  if (parameter === null) throw new InvalidArgumentError('Give NAME=VALUE, as in top_p=0.9.');
  return [...before, parameter];
}

/** Null for a text that is not `name=value`. */
export function readParameter(text: string): Parameter | null {
  const [, name, value = ''] = /^([A-Za-z_][\w.-]*)=([\s\S]*)$/.exec(text) ?? [];
  return name === undefined ? null : [name, value === '' ? undefined : parseValue(value)];
}

function parseValue(value: string): JsonValue {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The parameters with these changes applied. */
export function withParameters(
  before: Readonly<Record<string, unknown>>,
  changes: readonly Parameter[],
): Readonly<Record<string, JsonValue>> {
  const changed = Object.entries({ ...before, ...Object.fromEntries(changes) });
  return Object.fromEntries(changed.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}
