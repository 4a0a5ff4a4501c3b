// Turns the rows that every store selects into the service's own types.
import type { KeyRecord } from '../service/administration.ts';
import { toTime } from '../service/iso-time.ts';
import type { BudgetLeft, KeyScope } from '../service/key-limits.ts';
import type {
  FinishReason,
  Message,
  Role,
  Session,
  SessionOrdering,
  SessionSettings,
} from '../service/session.ts';
import type { FoundKey } from './key-budgets.ts';

export interface KeyRow {
  readonly key_id: string;
  readonly key_name: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
  readonly scope: KeyScope | null;
  readonly expires_at: number | null;
  readonly turns_per_day: number | null;
  readonly tokens_per_day: number | null;
  readonly last_used_at: number | null;
}

/** The columns of limits, in every store. */
export const limitColumns =
  'api_keys.scope, api_keys.expires_at, api_keys.turns_per_day, api_keys.tokens_per_day, api_keys.last_used_at';

/** The budgets of a key and what is used of them; null where nothing is used yet. */
export interface BudgetRow {
  readonly turns_per_day: number | null;
  readonly tokens_per_day: number | null;
  readonly turns: number | null;
  readonly tokens: number | null;
}

export function leftOf({ turns_per_day, tokens_per_day, turns, tokens }: BudgetRow): BudgetLeft {
  const left = (budget: number | null, used: number | null) =>
    budget === null ? null : Math.max(0, budget - (used ?? 0));
  return { turns: left(turns_per_day, turns), tokens: left(tokens_per_day, tokens) };
}

export interface SessionRow {
  readonly session_id: string;
  readonly title: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly message_count: number;
  readonly mode: string | null;
  readonly system: string | null;
  /** JSON; null for none. */
  readonly parameters: string | null;
  readonly parent_id: string | null;
  readonly forked_at: number | null;
  /** SQLite keeps 0 and 1. */
  readonly pinned: boolean | number;
  readonly archived: boolean | number;
  /** A JSON list; null for none. */
  readonly tags: string | null;
  /** The API's field `user`, whose name is a word of SQL. */
  readonly user_id: string | null;
}

export interface MessageRow {
  readonly message_id: string;
  readonly position: number;
  readonly role: Role;
  readonly content: string;
  readonly mode: string;
  readonly finish_reason: FinishReason | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly created_at: number;
  readonly error_code: string | null;
  // Only in the rows of hidden messages.
  readonly alternative_of?: string | null;
  readonly undone_at?: number | null;
}

const columns = [
  'message_id',
  'position',
  'role',
  'content',
  'mode',
  'finish_reason',
  'input_tokens',
  'output_tokens',
  'created_at',
  'error_code',
];
const ofMessage = (names: readonly string[]) => names.map((column) => `message.${column}`).join(', ');

/** The columns of a table of messages that the statement calls `message`. */
export const messageColumns = ofMessage(columns);
/** The columns of a table of hidden messages that the statement calls `message`. */
export const hiddenColumns = ofMessage([...columns, 'alternative_of', 'undone_at']);

export function toKeyRecord(row: KeyRow): KeyRecord {
  return { ...toFoundKey(row), revoked_at: timeOrNull(row.revoked_at) };
}

export function toFoundKey(row: KeyRow): FoundKey {
  const { key_id, key_name, project_id, project_name, scope, turns_per_day, tokens_per_day } = row;
  return {
    key_id,
    key_name,
    project_id,
    project_name,
    created_at: toTime(row.created_at),
    scope,
    expires_at: timeOrNull(row.expires_at),
    turns_per_day,
    tokens_per_day,
    // Only the hour is stored, and it may begin before the creation.
    last_used_at: row.last_used_at === null ? null : toTime(Math.max(row.last_used_at, row.created_at)),
  };
}

function timeOrNull(milliseconds: number | null): string | null {
  return milliseconds === null ? null : toTime(milliseconds);
}

export function toSession(row: SessionRow): Session {
  const { system, parameters } = toSettings(row);
  const { pinned, archived, tags } = toOrdering(row);
  // Each read of a session makes one, so it contains no spread (CONTRIBUTING.md).
  return {
    session_id: row.session_id,
    title: row.title,
    created_at: toTime(row.created_at),
    updated_at: toTime(row.updated_at),
    message_count: row.message_count,
    mode: row.mode,
    system,
    parameters,
    parent_id: row.parent_id,
    forked_at: row.forked_at,
    pinned,
    archived,
    tags,
    user: row.user_id,
  };
}

/** The stored settings of a session. */
export function toSettings({
  system,
  parameters,
}: Pick<SessionRow, 'system' | 'parameters'>): SessionSettings {
  return { system, parameters: parameters === null ? {} : JSON.parse(parameters) };
}

/** The stored ordering of a session. */
export function toOrdering({
  pinned,
  archived,
  tags,
}: Pick<SessionRow, keyof SessionOrdering>): SessionOrdering {
  return {
    pinned: Boolean(pinned),
    archived: Boolean(archived),
    tags: tags === null ? [] : JSON.parse(tags),
  };
}

/** The tags of a session as they are stored. */
export function tagsText(tags: readonly string[]): string | null {
  return tags.length === 0 ? null : JSON.stringify(tags);
}

/** The settings of a new session. */
export function givenSettings({ system, parameters }: Partial<SessionSettings>): SessionSettings {
  return { system: system ?? null, parameters: parameters ?? {} };
}

/** The parameters of a session as they are stored. */
export function parametersText(parameters: SessionSettings['parameters'] | undefined): string | null {
  return parameters === undefined || Object.keys(parameters).length === 0 ? null : JSON.stringify(parameters);
}

export function toMessage(row: MessageRow): Message {
  const { message_id, position, role, content, mode, finish_reason } = row;
  const { input_tokens, output_tokens, error_code, alternative_of, undone_at } = row;
  return {
    message_id,
    position,
    role,
    content,
    mode,
    finish_reason,
    usage: input_tokens === null || output_tokens === null ? null : { input_tokens, output_tokens },
    created_at: toTime(row.created_at),
    ...(error_code !== null && { error_code }),
    ...(alternative_of != null && { alternative_of }),
    ...(undone_at != null && { undone_at: toTime(undone_at) }),
  };
}
