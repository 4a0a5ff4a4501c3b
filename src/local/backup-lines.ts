// The form of a backup: a text of lines, each a JSON object with its `kind`. The first line names the backup, the last one holds the
// counts of all rows and the SHA-256 of all lines before it. The columns of a row have the names of store-rows.ts.
import type { BackupCounts } from '../service/backup-report.ts';
import { noLimits } from '../service/key-limits.ts';
import type {
  AuditRow,
  IdempotencyRow,
  ProjectKeyRow,
  ProjectRow,
  SessionHead,
  StoredMessage,
} from '../store/store-rows.ts';

export const backupFormat = 1;

export interface BackupHead {
  readonly format: number;
  /** ISO 8601. */
  readonly made_at: string;
  /** The store without user and password. */
  readonly from: string;
  /** How many sessions follow. */
  readonly sessions: number;
}

type KeyLine = Omit<ProjectKeyRow, 'hash'> & { readonly hash: string };
type AnswerLine = Omit<IdempotencyRow, 'request_hash'> & {
  readonly project_id: string;
  readonly request_hash: string;
};

/** A session with some of its messages. A long session takes several lines in a row. */
export interface SessionLine {
  readonly project_id: string;
  readonly session: SessionHead;
  readonly messages: readonly StoredMessage[];
}

/** The modes that answer for the store, by their names. Their settings are checked where they are restored. */
export interface BackedUpModes {
  readonly default_mode: string | null;
  readonly modes: Readonly<Record<string, unknown>>;
}

interface EndLine extends BackupCounts {
  readonly sha256: string;
}

export type BackupLine =
  | ({ readonly kind: 'backup' } & BackupHead)
  | ({ readonly kind: 'project' } & ProjectRow)
  | ({ readonly kind: 'key' } & KeyLine)
  | ({ readonly kind: 'modes' } & BackedUpModes)
  | ({ readonly kind: 'session' } & SessionLine)
  | ({ readonly kind: 'answer' } & AnswerLine)
  | ({ readonly kind: 'audit' } & AuditRow)
  | ({ readonly kind: 'end' } & EndLine);

const maxTimeMs = 8_640_000_000_000_000;

/** What a column holds. `time`: epoch milliseconds that a date can have. `hash`: a SHA-256 in hexadecimal digits. */
const kinds = {
  text: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => Number.isSafeInteger(value),
  time: (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= maxTimeMs,
  boolean: (value: unknown) => typeof value === 'boolean',
  role: (value: unknown) => value === 'user' || value === 'assistant',
  hash: (value: unknown) => typeof value === 'string' && /^[\da-f]{64}$/.test(value),
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: (value: unknown) => Array.isArray(value),
} as const;

type Kind = keyof typeof kinds;
type ColumnKind = Kind | `${Kind} or null`;
type Columns<Row> = { readonly [Column in keyof Row]-?: ColumnKind };

const head: Columns<SessionHead> = {
  session_id: 'text',
  title: 'text or null',
  created_at: 'time',
  updated_at: 'time',
  message_count: 'number',
  deleted_at: 'time or null',
  turn_position: 'number or null',
  turn_epoch: 'number',
  undone_turns: 'number',
  mode: 'text or null',
  parent_id: 'text or null',
  forked_at: 'number or null',
  parameters: 'text or null',
  system: 'text or null',
  pinned: 'boolean',
  archived: 'boolean',
  tags: 'text or null',
  user_id: 'text or null',
};

/** The columns that backups of earlier versions lack, as they are read. */
const laterHeadDefaults = {
  pinned: false,
  archived: false,
  tags: null,
  user_id: null,
} satisfies Partial<SessionHead>;

const message: Columns<StoredMessage> = {
  message_id: 'text',
  position: 'number',
  role: 'role',
  content: 'text',
  mode: 'text or null',
  finish_reason: 'text or null',
  input_tokens: 'number or null',
  output_tokens: 'number or null',
  first_token_ms: 'number or null',
  error_code: 'text or null',
  created_at: 'time',
  is_copy: 'boolean',
  alternative_of: 'text or null',
  undone_at: 'time or null',
};

const lines: { readonly [Kind in BackupLine['kind']]: Columns<Omit<BackupLine & { kind: Kind }, 'kind'>> } = {
  backup: { format: 'number', made_at: 'text', from: 'text', sessions: 'number' },
  project: { project_id: 'text', name: 'text', created_at: 'time' },
  key: {
    key_id: 'text',
    name: 'text',
    hash: 'hash',
    project_id: 'text',
    created_at: 'time',
    revoked_at: 'time or null',
    scope: 'text or null',
    expires_at: 'time or null',
    turns_per_day: 'number or null',
    tokens_per_day: 'number or null',
  },
  modes: { default_mode: 'text or null', modes: 'object' },
  session: { project_id: 'text', session: 'object', messages: 'list' },
  answer: {
    project_id: 'text',
    key: 'text',
    request_hash: 'hash',
    session_id: 'text or null',
    position: 'number or null',
    message_id: 'text or null',
    reply_id: 'text or null',
    answer: 'text or null',
    age_ms: 'number',
  },
  audit: { number: 'number', entry: 'text', hash: 'text' },
  end: {
    projects: 'number',
    keys: 'number',
    modes: 'number',
    sessions: 'number',
    messages: 'number',
    stored_answers: 'number',
    sha256: 'text',
  },
};

/** A line that breaks the form. `message` says how. */
export class LineFault extends Error {}

/** A line with a kind or a column that this version does not know. A newer version may have written it. */
export class UnknownForm extends LineFault {}

/** The fields are in the order of the tables above, so that equal stores have equal lines, whatever their database is. */
export function lineText(line: BackupLine): string {
  const { kind } = line;
  const fields = inOrder(line, lines[kind]);
  if (line.kind !== 'session') return `${JSON.stringify({ kind, ...fields })}\n`;
  const session = inOrder(line.session, head);
  const messages = line.messages.map((one) => inOrder(one, message));
  return `${JSON.stringify({ kind, ...fields, session, messages })}\n`;
}

function inOrder(row: object, columns: Readonly<Record<string, ColumnKind>>): object {
  const values = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.keys(columns).map((name) => [name, values[name]]));
}

/** Throws a {@link LineFault}. */
export function readLine(text: string): BackupLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineFault('is not JSON');
  }
  const { kind } = (value ?? {}) as { readonly kind?: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(lines, kind))
    throw new UnknownForm('is no line of a backup');
  // A backup of an earlier version has no limits of keys.
  if (kind === 'key') value = { ...noLimits, ...(value as object) };
  const { kind: _, ...row } = value as BackupLine;
  check(row, lines[kind as BackupLine['kind']], '');
  const line = value as BackupLine;
  if (line.kind !== 'session') return line;
  const { messages } = line;
  const session = { ...laterHeadDefaults, ...line.session };
  check(session, head, 'session.');
  for (const [at, one] of messages.entries()) {
    if (!kinds.object(one)) throw new LineFault(`has no object in "messages[${at}]"`);
    check(one, message, `messages[${at}].`);
  }
  return { ...line, session };
}

function check(row: object, columns: Readonly<Record<string, ColumnKind>>, place: string): void {
  for (const name of Object.keys(row))
    if (!Object.hasOwn(columns, name))
      throw new UnknownForm(`has "${place}${name}", which this version does not know`);
  for (const [name, kind] of Object.entries(columns)) {
    const value = (row as Readonly<Record<string, unknown>>)[name];
    if (!fits(value, kind)) throw new LineFault(`has no ${kind} in "${place}${name}"`);
  }
}

function fits(value: unknown, kind: ColumnKind): boolean {
  if (value === null) return kind.endsWith(' or null');
  return kinds[kind.replace(' or null', '') as Kind](value);
}
