// The rules for a session that comes from outside: it is accepted if this service could have made it of the same conversation. The session
// may come from a file that anybody wrote, so types are checked too.
import { ParleyError } from '../service/errors.ts';
import { type Limits, maxPosition } from '../service/limits.ts';
import { finishReasons, type Message, type Session, type SessionFacts } from '../service/session.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import { sortedTags } from '../service/sorted-tags.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { faultOfHidden } from './hidden-message-rules.ts';
import { checkSettings, checkTags, checkText, checkTitle, checkUser, isWholeNumber } from './text-rules.ts';

const sessionFields = namesOf<keyof SessionFacts>({
  session_id: true,
  title: true,
  created_at: true,
  updated_at: true,
  message_count: true,
});
const messageFields = namesOf<Exclude<keyof Message, 'error_code' | 'alternative_of' | 'undone_at'>>({
  message_id: true,
  position: true,
  role: true,
  content: true,
  mode: true,
  finish_reason: true,
  usage: true,
  created_at: true,
});
/** Fields that a session or a message may lack, because earlier versions did not export them. */
const laterSessionFields = namesOf<Exclude<keyof Session, keyof SessionFacts>>({
  mode: true,
  system: true,
  parameters: true,
  parent_id: true,
  forked_at: true,
  pinned: true,
  archived: true,
  tags: true,
  user: true,
});
const laterMessageFields = ['error_code'] as const;
const hiddenFields = ['error_code', 'alternative_of', 'undone_at'] as const;

/** How many messages are checked at a time. */
const checkedAtOnce = 200;

/** Throws `INVALID_REQUEST` with the place of the first fault. Pauses for other work, because a record may be long. */
export async function checkRecord(record: SessionRecord, limits: Limits): Promise<void> {
  const { session, messages, hidden_messages, replaces } = fieldsOf(
    'body',
    record,
    ['session', 'messages'],
    ['hidden_messages', 'replaces'],
  );
  const fields = fieldsOf('session', session, sessionFields, laterSessionFields);
  if (!isOwnId(fields.session_id)) throw wrong('session.session_id', idRule);
  if (fields.title !== null) checkTitle(textAt('session.title', fields.title), limits, 'session.title');
  checkLaterFields(fields, limits);
  if (replaces !== undefined) checkReplaces(replaces, fields.session_id);
  const createdAt = timeAt('session.created_at', fields.created_at);
  const updatedAt = timeAt('session.updated_at', fields.updated_at);
  if (updatedAt < createdAt) throw wrong('session.updated_at', 'is before created_at');
  if (!Array.isArray(messages)) throw wrong('messages', 'must be an array');
  if (fields.message_count !== messages.length) {
    throw wrong('session.message_count', `must be ${messages.length}, the number of messages`);
  }
  const rules = { updatedAt, limits, ids: new Set<string>(), modes: new Set<unknown>() };
  await checkEach('messages', messages, checkVisible, rules);
  if (hidden_messages === undefined) return;
  if (!Array.isArray(hidden_messages)) throw wrong('hidden_messages', 'must be an array');
  await checkEach('hidden_messages', hidden_messages, checkHidden, rules);
  const fault = faultOfHidden(messages, hidden_messages);
  if (fault !== null) throw wrong(`hidden_messages[${fault.index}].${fault.field}`, fault.problem);
}

interface MessageRules {
  readonly limits: Limits;
  /** When the session was last active. */
  readonly updatedAt: number;
  /** The ids of the messages before, and their modes: most have the same. */
  readonly ids: Set<string>;
  readonly modes: Set<unknown>;
}

type CheckMessage = (at: string, message: unknown, index: number, rules: MessageRules) => void;

/**
 * Checks each message without its place, and at a fault once more with it: the places of all messages would take three times the memory
 * of a record with very many short ones.
 */
async function checkEach(
  list: string,
  messages: readonly unknown[],
  check: CheckMessage,
  rules: MessageRules,
): Promise<void> {
  for (let index = 0; index < messages.length; index += 1) {
    if (index % checkedAtOnce === checkedAtOnce - 1) await yieldToEventLoop();
    const message = messages[index];
    try {
      check('', message, index, rules);
    } catch {
      check(`${list}[${index}]`, message, index, rules);
    }
    rules.ids.add((message as Message).message_id);
  }
}

function checkVisible(at: string, message: unknown, index: number, rules: MessageRules): void {
  const fields = fieldsOf(at, message, messageFields, laterMessageFields);
  if (fields.position !== index) throw wrong(`${at}.position`, `must be ${index}, its place`);
  checkMessage(at, fields, index, rules);
}

function checkHidden(at: string, message: unknown, _index: number, rules: MessageRules): void {
  const fields = fieldsOf(at, message, messageFields, hiddenFields);
  const position = numberAt(`${at}.position`, fields.position, maxPosition);
  checkMessage(at, fields, position, rules);
  if (fields.alternative_of !== undefined) textAt(`${at}.alternative_of`, fields.alternative_of);
  if (fields.undone_at !== undefined && timeAt(`${at}.undone_at`, fields.undone_at) > rules.updatedAt)
    throw wrong(`${at}.undone_at`, 'is after the last activity of the session');
}

function checkLaterFields(later: Readonly<Record<keyof Session, unknown>>, limits: Limits): void {
  const { mode, system, parameters, parent_id, forked_at, user, tags } = later;
  if (mode != null) checkTitle(textAt('session.mode', mode), limits, 'session.mode');
  if (system != null) checkSettings({ system: textAt('session.system', system) }, limits, 'session.');
  if (parameters !== undefined)
    checkSettings({ parameters: objectAt('session.parameters', parameters) }, limits, 'session.');
  if (user != null) checkUser('session.user', textAt('session.user', user));
  if (parent_id != null && !isOwnId(parent_id)) throw wrong('session.parent_id', idRule);
  if (forked_at != null) numberAt('session.forked_at', forked_at, maxPosition);
  for (const name of ['pinned', 'archived'] as const) {
    if (![true, false, undefined].some((value) => value === later[name]))
      throw wrong(`session.${name}`, 'must be true or false');
  }
  if (tags === undefined) return;
  if (!Array.isArray(tags)) throw wrong('session.tags', 'must be an array');
  const texts = tags.map((tag, index) => textAt(`session.tags[${index}]`, tag));
  checkTags('session.tags', texts, limits);
}

/** A checked record with its tags as this service stores them. */
export function withSortedTags(record: SessionRecord): SessionRecord {
  const { tags = [] } = record.session;
  return tags.length === 0 ? record : { ...record, session: { ...record.session, tags: sortedTags(tags) } };
}

function checkReplaces(replaces: unknown, sessionId: unknown): void {
  const { session, kept_in } = fieldsOf('replaces', replaces, ['session'], ['kept_in']);
  const { session_id } = fieldsOf('replaces.session', session, sessionFields, laterSessionFields);
  if (session_id !== sessionId) throw wrong('replaces.session.session_id', 'must be that of the session');
  if (kept_in != null && !isOwnId(kept_in)) throw wrong('replaces.kept_in', idRule);
  if (kept_in === sessionId) throw wrong('replaces.kept_in', 'must be that of another session');
}

function isOwnId(value: unknown): boolean {
  return typeof value === 'string' && /^ses_[\w-]{1,200}$/.test(value);
}

const idRule = 'must be an id of this service: ses_, then letters and digits';

type MessageFields = Readonly<Record<Exclude<keyof Message, 'alternative_of' | 'undone_at'>, unknown>>;

/** Checks a message, and that no other of `ids` has its id. */
function checkMessage(
  at: string,
  message: MessageFields,
  position: number,
  { limits, updatedAt, ids, modes }: MessageRules,
): void {
  const { message_id: id } = message;
  if (typeof id !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(id)) {
    throw wrong(`${at}.message_id`, 'must be 1 to 255 visible ASCII characters');
  }
  if (ids.has(id)) throw wrong(`${at}.message_id`, 'is that of an earlier message');
  const isReply = position % 2 === 1;
  const role = isReply ? 'assistant' : 'user';
  if (message.role !== role) throw wrong(`${at}.role`, `must be ${role}: the two sides take turns`);
  if (!modes.has(message.mode)) checkTitle(textAt(`${at}.mode`, message.mode), limits, `${at}.mode`);
  modes.add(message.mode);
  checkContent(`${at}.content`, textAt(`${at}.content`, message.content), isReply, limits);
  const isFinishAllowed = isReply
    ? finishReasons.some((reason) => reason === message.finish_reason)
    : message.finish_reason === null;
  if (!isFinishAllowed) {
    const rule = isReply ? `must be one of ${finishReasons.join(', ')}` : 'must be null for a user’s message';
    throw wrong(`${at}.finish_reason`, rule);
  }
  checkUsage(`${at}.usage`, message.usage, isReply);
  checkErrorCode(`${at}.error_code`, message.error_code, message.finish_reason);
  if (timeAt(`${at}.created_at`, message.created_at) > updatedAt)
    throw wrong(`${at}.created_at`, 'is after the last activity of the session');
}

/** A reply may be empty, and as long as its engine made it. A message of the user may not. */
function checkContent(at: string, content: string, isReply: boolean, limits: Limits): void {
  checkText(at, content);
  if (isReply) return;
  if (content.trim() === '') throw wrong(at, 'is empty or white space alone');
  // A UTF-16 unit takes at most three bytes.
  const bytes = 3 * content.length > limits.messageBytes ? Buffer.byteLength(content) : 0;
  if (bytes > limits.messageBytes) throw wrong(at, `has ${bytes} bytes; the limit is ${limits.messageBytes}`);
}

function checkUsage(at: string, usage: unknown, isReply: boolean): void {
  if (usage === null) return;
  if (!isReply) throw wrong(at, 'must be null for a user’s message');
  const counts = fieldsOf(at, usage, ['input_tokens', 'output_tokens']);
  for (const [name, count] of Object.entries(counts)) numberAt(`${at}.${name}`, count);
}

/** The code may be one of this version or of another version. */
function checkErrorCode(at: string, code: unknown, finishReason: unknown): void {
  if (code === undefined) return;
  if (finishReason !== 'error') throw wrong(at, 'is only for a reply that ended in error');
  if (typeof code !== 'string' || !/^[A-Z][A-Z_]{0,63}$/.test(code))
    throw wrong(at, 'must be a code, such as ENGINE_FAILED');
}

/** The names of all fields. The compiler reports a missing one. */
function namesOf<Name extends string>(fields: Readonly<Record<Name, true>>): readonly Name[] {
  return Object.keys(fields) as Name[];
}

/** The value as an object with exactly the named fields; only the optional ones may be absent. */
function fieldsOf<Name extends string, Optional extends string = never>(
  at: string,
  value: unknown,
  names: readonly Name[],
  optional: readonly Optional[] = [],
): Readonly<Record<Name | Optional, unknown>> {
  const object = objectAt(at, value);
  for (const name of names) {
    if (!Object.hasOwn(object, name)) throw wrong(placeOf(at, name), 'is missing');
  }
  // A loop over the names makes no list of them. A record may have many thousands of messages.
  const requiredNames: readonly string[] = names;
  const optionalNames: readonly string[] = optional;
  for (const name in object) {
    if (requiredNames.includes(name) || optionalNames.includes(name)) continue;
    throw wrong(placeOf(at, name.slice(0, 80)), 'is not a known field');
  }
  return object as Readonly<Record<Name | Optional, unknown>>;
}

function placeOf(at: string, name: string): string {
  return at === 'body' ? name : `${at}.${name}`;
}

function objectAt(at: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw wrong(at, 'must be an object');
}

function textAt(at: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(at, 'must be a string');
  return value;
}

function numberAt(at: string, value: unknown, maximum = Number.MAX_SAFE_INTEGER): number {
  if (isWholeNumber(value) && value <= maximum) return value;
  throw wrong(at, `must be a whole number from 0 to ${maximum}`);
}

/** A time that needs no comparison, which makes two objects: the first 28 days are in every month. */
const certainTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The time must be written in this service's own format, so that it is returned unchanged. */
function timeAt(at: string, value: unknown): number {
  if (typeof value === 'string' && certainTime.test(value)) return Date.parse(value);
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== value) {
    throw wrong(at, 'must be a time in UTC with milliseconds, such as 2026-01-31T00:00:00.000Z');
  }
  return milliseconds;
}

function wrong(field: string, problem: string): ParleyError {
  const message = `The session cannot be imported: the field ${field} ${problem}.`;
  return new ParleyError('INVALID_REQUEST', message, {
    hint: 'Nothing of this session was stored.',
    remedy: { kind: 'import_an_export' },
    details: [{ field, problem }],
  });
}
