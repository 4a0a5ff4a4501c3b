// Parses one line of a batch into a request or an error. No value is converted or guessed.
import { isUtf8 } from 'node:buffer';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { maxDepth } from '../../service/model-parameters.ts';
import { isSessionId } from '../../service/session.ts';
import type { Parameter } from '../model-options.ts';
import { readExactJson, UnreadableJson } from '../schema/exact-reader.ts';
import { type GivenSettings, noGivenSettings } from '../setting-options.ts';
import type { ByteLine } from '../terminal/byte-lines.ts';
import { toJson } from '../terminal/json.ts';
import { Utf8Reader } from '../terminal/utf8-reader.ts';

/** The id of a line: a string or a whole number. The default is the line number. */
export type BatchId = string | number;

export interface BatchRequest {
  readonly message: string;
  readonly mode: string | null;
  readonly session_id: string | null;
  readonly title: string | null;
  /** The user that the session belongs to; null for that of the batch, if it has one. */
  readonly user: string | null;
  readonly settings: GivenSettings;
  /** The JSON Schema of the reply, as text; null for none; undefined for the schema of the batch, if it has one. */
  readonly schema: string | null | undefined;
}

export interface BatchLine {
  /** The number of the line; the first line is 1. */
  readonly line: number;
  readonly id: BatchId;
  readonly request: BatchRequest | ParleyError;
  /** The bytes of the line, and of the input up to the end of the line. */
  readonly size: number;
  readonly end: number;
}

export interface LineRules {
  /** The most bytes of a message, and of a schema. */
  readonly messageBytes: number;
  readonly schemaBytes: number;
  /** True if all lines are turns of one session. No line may then name a session or a title. */
  readonly inSession: boolean;
}

/**
 * The most bytes of a line. JSON may need six bytes for one byte of a message (`\u0001`); the rest is for the names and the other fields.
 */
export function maxLineBytes({ messageBytes }: Pick<LineRules, 'messageBytes'>): number {
  return 6 * messageBytes + 64 * 1024;
}

/** Null for a blank line. */
export function readItem({ number: line, bytes, end }: ByteLine, rules: LineRules): BatchLine | null {
  const failedLine = (request: ParleyError, id: BatchId | null = null, size = 0): BatchLine => {
    return { line, id: id ?? line, request, size, end };
  };
  if (bytes === null) {
    return failedLine(tooLarge(line, `is longer than ${maxLineBytes(rules)} bytes`, rules.messageBytes));
  }
  const size = bytes.length;
  let id: BatchId | null = null;
  try {
    const text = textOf(bytes, line);
    const trimmed = text.trim();
    if (trimmed === '') return null;
    const fields = trimmed.startsWith('{') ? objectOf(trimmed, line) : { message: text };
    id = idOf(fields, line);
    return {
      line,
      id: id ?? line,
      request: { ...requestOf(fields, line, rules), schema: schemaOf(fields, trimmed, line, rules) },
      size,
      end,
    };
  } catch (error) {
    if (error instanceof ParleyError) return failedLine(error, id, size);
    throw error;
  }
}

function textOf(bytes: Uint8Array, line: number): string {
  if (!isUtf8(bytes) || bytes.includes(0)) {
    const reader = new Utf8Reader({ name: `Line ${line}`, limit: null });
    reader.push(bytes);
    reader.end();
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

type Fields = Readonly<Record<string, unknown>>;

const fieldNames: readonly string[] = [
  'message',
  'id',
  'mode',
  'session_id',
  'title',
  'user',
  'system',
  'parameters',
  'schema',
];

/** The text begins with a brace, so valid JSON is an object. */
function objectOf(text: string, line: number): Fields {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ParleyError(
      'INVALID_REQUEST',
      `Line ${line} starts with { but is not JSON: ${reasonOf(cause)}.`,
      {
        hint: 'This line was not sent. Put a message that starts with { into JSON: {"message":"{…"}',
        details: [{ field: `line ${line}`, problem: 'is not JSON' }],
      },
    );
  }
}

/** The id is parsed first, so that other errors of the line are reported under its id. */
function idOf({ id }: Fields, line: number): BatchId | null {
  if (id === undefined) return null;
  if (typeof id === 'number') {
    if (Number.isSafeInteger(id)) return id;
  } else if (typeof id === 'string') {
    if (id !== '' && id.length <= 255) return id;
  }
  throw invalid(line, 'id', 'must be a whole number or a string of 1 to 255 characters');
}

function requestOf(
  fields: Fields,
  line: number,
  { messageBytes, inSession }: LineRules,
): Omit<BatchRequest, 'schema'> {
  const unknown = Object.keys(fields).find((name) => !fieldNames.includes(name));
  if (unknown !== undefined) {
    throw invalid(line, unknown.slice(0, 80), `is unknown; the fields are ${fieldNames.join(', ')}`);
  }
  const message = textField(fields, 'message', line);
  if (message === null) throw invalid(line, 'message', 'is missing');
  if (message.trim() === '') throw invalid(line, 'message', 'is empty or only whitespace');
  const nul = message.indexOf('\0');
  if (nul !== -1) throw invalid(line, 'message', `contains a NUL character at position ${nul}`);
  if (!message.isWellFormed()) throw invalid(line, 'message', 'contains half of a surrogate pair');
  // A UTF-16 unit takes at most three bytes, so most messages need no exact count.
  if (message.length * 3 > messageBytes) {
    const bytes = Buffer.byteLength(message);
    if (bytes > messageBytes) throw tooLarge(line, `has a message of ${bytes} bytes`, messageBytes);
  }
  const mode = textField(fields, 'mode', line);
  if (mode === '') throw invalid(line, 'mode', 'is empty');
  const session_id = textField(fields, 'session_id', line);
  if (session_id !== null && !isSessionId(session_id)) {
    throw invalid(line, 'session_id', 'is not a session id (1 to 255 printable characters, not . or ..)');
  }
  const title = textField(fields, 'title', line);
  if (title !== null && session_id !== null) {
    throw invalid(line, 'title', 'is for new sessions and cannot be combined with session_id');
  }
  const user = textField(fields, 'user', line);
  const settings = settingsField(fields, line);
  const ofSession = [
    title !== null && 'title',
    session_id !== null && 'session_id',
    user !== null && 'user',
    settings.system !== undefined && 'system',
    settings.parameters.length > 0 && 'parameters',
  ].find(Boolean);
  if (inSession && ofSession) throw invalid(line, ofSession, 'is not allowed with --in-session');
  return { message, mode, session_id, title, user, settings };
}

/** Parses the line again, because numbers in a schema may have more digits than a JavaScript number. */
function schemaOf(
  { schema }: Fields,
  text: string,
  line: number,
  { schemaBytes }: LineRules,
): BatchRequest['schema'] {
  if (schema === undefined || schema === null) return schema;
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || Array.isArray(schema)))
    throw invalid(line, 'schema', `must be a JSON Schema, not ${kindOf(schema)}`);
  try {
    const { schema: exact } = readExactJson(text).value as Fields;
    const json = toJson(exact);
    const bytes = Buffer.byteLength(json);
    if (bytes > schemaBytes) throw tooLarge(line, `has a schema of ${bytes} bytes`, schemaBytes);
    return json;
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error;
    const { place, reason } = error.fault;
    throw invalid(line, place.slice(1) || 'schema', reason);
  }
}

/** A system prompt or parameter of null removes it. */
function settingsField(fields: Fields, line: number): GivenSettings {
  const system = fields['system'] === null ? null : (textField(fields, 'system', line) ?? undefined);
  if (system === '') throw invalid(line, 'system', 'is empty; use null to remove the system prompt');
  const { parameters = {} } = fields;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    throw invalid(line, 'parameters', `must be an object, not ${kindOf(parameters)}`);
  }
  // Deeper parameters could exhaust the stack before the service refuses them.
  if (isDeeper(parameters, maxDepth))
    throw invalid(line, 'parameters', `is nested more than ${maxDepth} levels deep`);
  const changes = Object.entries(parameters).map(([name, value]): Parameter => [name, value ?? undefined]);
  return system === undefined && changes.length === 0 ? noGivenSettings : { system, parameters: changes };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function textField(fields: Fields, name: string, line: number): string | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw invalid(line, name, `must be a string, not ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}

function invalid(line: number, field: string, problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `Line ${line}: the field ${field} ${problem}.`, {
    hint: 'This line was not sent.',
    details: [{ field: `line ${line}, ${field}`, problem }],
  });
}

function tooLarge(line: number, problem: string, limit: number): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `Line ${line} ${problem}; the limit is ${limit}.`, {
    hint: 'This line was not sent. Split it.',
    details: [{ field: `line ${line}`, problem }],
  });
}
