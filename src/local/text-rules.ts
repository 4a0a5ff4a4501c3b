// The rules for stored values. They hold for every interface. Each check throws `INVALID_REQUEST`, unless it names another code; the error
// names the field and the rule.
import { isCalendarDay } from '../service/calendar-day.ts';
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { Limits } from '../service/limits.ts';
import { sessionParameterFault } from '../service/model-parameters.ts';
import type { Session, SessionSettings } from '../service/session.ts';
import type { MessageQuery, SessionChanges, TagChange } from '../service/session-archive.ts';
import { tagForm } from '../service/sorted-tags.ts';
import { wrongField } from './wrong-field.ts';

function invalid(field: string, problem: string): ParleyError {
  return wrongField(field, problem, `Give another value for ${field}; nothing was changed.`);
}

/** Refuses NUL and lone surrogates, because some stores cannot hold them. */
export function checkText(field: string, text: string): void {
  const nul = text.indexOf('\0');
  if (nul !== -1) throw invalid(field, `holds a NUL character at position ${nul}`);
  if (!text.isWellFormed()) throw invalid(field, 'is not valid Unicode: it holds half of a surrogate pair');
}

/** Checks the length before everything else: other checks would take long in a text of some MiB. A character has at most two units. */
function checkCharacters(field: string, text: string, limit: number): void {
  if (text.length <= limit) return;
  const isFarLonger = text.length > limit * 4;
  const length = isFarLonger ? Math.ceil(text.length / 2) : [...text].length;
  if (length <= limit) return;
  throw invalid(field, `has ${isFarLonger ? 'at least ' : ''}${length} characters; the limit is ${limit}`);
}

function checkBytes(field: string, text: string, limit: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limit) throw invalid(field, `has ${bytes} bytes; the limit is ${limit}`);
}

/** A title has 1 to `limits.titleCharacters` code points, not white space alone, without control characters and line breaks. */
export function checkTitle(title: string, limits: Limits, field = 'title'): void {
  checkCharacters(field, title, limits.titleCharacters);
  checkText(field, title);
  if (title.trim() === '') throw invalid(field, 'is empty');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(title)) throw invalid(field, 'holds a control character or a line break');
}

/** Checks the title of a chat, which becomes the title of the session that the chat creates. */
export function checkNewTitle(title: string, sessionId: string | null, limits: Limits): void {
  if (sessionId !== null) throw invalid('title', 'is for a new session: it cannot be used with session_id');
  checkTitle(title, limits);
}

/** Checks the settings of a session that are given. A system prompt has 1 to `limits.systemBytes` bytes, not white space alone. */
export function checkSettings(
  { system, parameters }: Partial<SessionSettings>,
  limits: Limits,
  place = '',
): void {
  if (system != null) checkSystem(system, limits, `${place}system`);
  const fault = parameters === undefined ? null : sessionParameterFault(parameters, limits);
  if (fault !== null) throw invalid([`${place}parameters`, ...fault.path].join('.'), fault.problem);
}

function checkSystem(system: string, limits: Limits, field: string): void {
  checkBytes(field, system, limits.systemBytes);
  checkText(field, system);
  if (system.trim() === '') throw invalid(field, 'is empty or white space alone');
}

/** Checks the settings of a chat, which become those of the session that the chat creates. */
export function checkNewSettings(request: ChatRequest, limits: Limits): void {
  const { session_id, system, parameters } = request;
  if (session_id !== null && (system != null || parameters !== undefined)) {
    const setting = system == null ? 'parameters' : 'system';
    throw invalid(setting, 'is for a new session: it cannot be used with session_id');
  }
  checkSettings(request, limits);
}

/** Checks the changes of a session. */
export function checkChanges(changes: SessionChanges, limits: Limits): void {
  const { title } = changes;
  if (Object.values(changes).every((value) => value === undefined))
    throw invalid('title', 'is missing, and so is every other field that could change');
  if (title != null) checkTitle(title, limits);
  checkSettings(changes, limits);
  if (changes.tags !== undefined) checkTags('tags', changes.tags, limits);
  if (changes.user != null) checkUser('user', changes.user);
}

/**
 * A tag has 1 to `limits.tagCharacters` visible characters. It holds no comma, which separates tags in a list, and begins with neither + nor
 * -, which add and remove tags.
 */
export function checkTag(field: string, tag: string, limits: Limits): void {
  checkCharacters(field, tag, limits.tagCharacters);
  checkText(field, tag);
  if (!/^[^\p{C}\p{Z}\s,]+$/u.test(tag))
    throw invalid(field, 'must hold visible characters alone, without spaces and commas');
  if (/^[+-]/.test(tag)) throw invalid(field, 'must not begin with + or -');
}

/** A user has 1 to 255 visible characters, and spaces between them. Whoever reads the name sees every character of it. */
export function checkUser(field: string, user: string): void {
  checkCharacters(field, user, userCharacters);
  checkText(field, user);
  if (!/^[^\p{C}\p{Z}\s]+(?: +[^\p{C}\p{Z}\s]+)*$/u.test(user))
    throw invalid(field, 'must hold visible characters alone, with spaces only between them');
}

const userCharacters = 255;

/** A chat with a user in a session that exists must name the user of that session. */
export function checkSameUser(user: string, session: Session | null): void {
  if (session === null || session.user === user) return;
  throw invalid('user', 'is not that of the session').with({
    hint: 'Leave it out to continue the session, or begin a new session. Nothing was stored.',
  });
}

/** Checks a list of tags: at most `limits.tags` of them. */
export function checkTags(field: string, tags: readonly string[], limits: Limits): void {
  if (tags.length > limits.tags) throw invalid(field, `has ${tags.length} tags; the limit is ${limits.tags}`);
  for (const [index, tag] of tags.entries()) checkTag(`${field}[${index}]`, tag, limits);
}

export function checkTagChange({ add, remove }: TagChange, limits: Limits): void {
  checkTags('add', add, limits);
  checkTags('remove', remove, limits);
  if (add.length + remove.length === 0) throw invalid('add', 'is empty, and so is remove');
  const removedTags = remove.map(tagForm);
  const both = add.findIndex((tag) => removedTags.includes(tagForm(tag)));
  if (both !== -1) throw invalid(`add[${both}]`, 'is also in remove');
}

/** A message has at most `limits.messageBytes` bytes of UTF-8 (otherwise `PAYLOAD_TOO_LARGE`), and is not white space alone. */
export function checkMessage(message: string, limits: Limits): void {
  const bytes = Buffer.byteLength(message);
  if (bytes > limits.messageBytes) {
    throw new ParleyError(
      'PAYLOAD_TOO_LARGE',
      `The message has ${bytes} bytes; the limit is ${limits.messageBytes}.`,
      { hint: 'Send it in parts.', details: [{ field: 'message', problem: `has ${bytes} bytes` }] },
    );
  }
  checkText('message', message);
  if (message.trim() === '') throw invalid('message', 'is empty or white space alone');
}

/** JSON itself may nest deeper than programs that read it can follow. Where they fail depends on the program and on its version. */
const maxSchemaLevels = 1000;

/** The schema of a reply is the text of an object of JSON, and has at most `limits.schemaBytes` bytes and `maxSchemaLevels` levels. */
export function checkSchema(schema: string, limits: Limits): void {
  checkBytes('schema', schema, limits.schemaBytes);
  let value: unknown;
  try {
    value = JSON.parse(schema);
  } catch {
    throw invalid('schema', 'is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('schema', 'is not an object of JSON');
  if (!nestsWithin(value, maxSchemaLevels))
    throw invalid('schema', `nests more than ${maxSchemaLevels} levels deep`);
}

/** True for a whole number from 0 that JavaScript holds exactly. */
export function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function nestsWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => nestsWithin(inner, levels - 1));
}

/** An idempotency key has 1 to 255 visible ASCII characters. */
export function checkIdempotencyKey(call: Call): void {
  if (call.idempotencyKey !== null && !/^[\x21-\x7e]{1,255}$/.test(call.idempotencyKey)) {
    throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  }
}

export function checkTitleMatch(glob: string, limits: Limits): void {
  checkCharacters('title_match', glob, limits.titleCharacters);
  checkText('title_match', glob);
}

/** A shorter end of an id would match by chance. */
export function checkIdSuffix(suffix: string): void {
  if (/^[\w-]{6,204}$/.test(suffix)) return;
  throw invalid('id_suffix', 'must be the last 6 or more characters of a session id');
}

export function checkPageLimit(limit: number, limits: Limits): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.pageItems) {
    throw invalid('limit', `must be a whole number from 1 to ${limits.pageItems}, not ${limit}`);
  }
}

/** The last page is one of the visible line, and has no page before it. */
export function checkLastPage({ all, cursor }: MessageQuery): void {
  if (all || cursor !== null) throw invalid('last', `cannot be used with ${all ? 'all' : 'cursor'}`);
}

export function checkBatch(ids: readonly string[], limits: Limits): void {
  if (ids.length < 1 || ids.length > limits.batchIds) {
    throw invalid('session_ids', `must hold 1 to ${limits.batchIds} ids, not ${ids.length}`);
  }
}

/** An ISO 8601 time as epoch milliseconds; null stays null. The zone is required, because the zone of this process must not count. */
export function readTime(field: string, time: string | null): number | null {
  if (time === null) return null;
  const milliseconds =
    /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(time) && isCalendarDay(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(milliseconds))
    throw invalid(field, 'is not an ISO 8601 time with its zone such as 2026-01-31T00:00:00.000Z');
  return milliseconds;
}

const automaticTitleCharacters = 60;

/** The title of a session from its first message: the first line with a visible character, shortened. */
export function titleOf(message: string): string {
  // Most lines are plain ASCII, and the Unicode tables for `\p{…}` take 0.2 ms to load.
  const clean = (line: string) =>
    (/^[ -~]*$/.test(line) ? line : line.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')).trim();
  const start = message.search(/[^\s\x00-\x1f\x7f-\x9f]/);
  if (start === -1) return '';
  // A character has at most two units, so the title never needs more of the message than this.
  const [line = ''] = message.slice(start, start + automaticTitleCharacters * 2).split(/[\r\n]/);
  return [...clean(line)].slice(0, automaticTitleCharacters).join('').trimEnd();
}
