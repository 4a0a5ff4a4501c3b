// Every failure of Parley is one class with one closed list of codes. Each code has a kind. The exit status of a command and the next
// step of a batch follow from the kind. So does the HTTP status of a response, unless HTTP has a narrower one (wire/error-status.ts).
import type { BudgetLeft } from './key-limits.ts';
import { withoutMiddle } from './quoted.ts';
import type { Remedy } from './remedy.ts';

/** The codes that a server of the API answers with: those of the interface document (section 7), and those of this service. */
export const serviceErrorCodes = [
  'INVALID_REQUEST',
  'UNKNOWN_MODE',
  'INVALID_API_KEY',
  'SESSION_NOT_FOUND',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'SESSION_BUSY',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_MISMATCH',
  'RATE_LIMITED',
  'FORBIDDEN',
  'BUDGET_EXCEEDED',
  'INTERNAL_ERROR',
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'UNAVAILABLE',
  'STORAGE_FULL',
] as const;

/** The codes that arise in the client: faults of usage, configuration, network and local store. */
export const clientErrorCodes = [
  'USAGE',
  'CONFIG',
  'NO_API_KEY',
  'BAD_RESPONSE',
  'UNSUPPORTED',
  'NETWORK',
  'TIMEOUT',
  'INCOMPLETE_REPLY',
  'REDIRECT',
  'FILTER_FAILED',
  'SCHEMA_MISMATCH',
  'COPY_DIFFERS',
  'STORE_BUSY',
  'STORE_DAMAGED',
  'STORE_MISSING',
  'STORE_NEWER',
  'STORE_OLDER',
  'STORE_UNSAFE',
] as const;

export type ErrorCode = (typeof serviceErrorCodes)[number] | (typeof clientErrorCodes)[number];

/**
 * What a failure means for the caller. `input`: the request is wrong, and nothing was done. `key`: there is no valid key, or the key may
 * not do this. `missing`: there is no such session. `transient`: there was no answer, and the same request may succeed later. `store`: the
 * store cannot be used. `mismatch`: the reply does not match its schema. `internal`: anything else failed.
 */
export type ErrorKind = 'input' | 'key' | 'missing' | 'transient' | 'store' | 'mismatch' | 'internal';

export const errorKind = {
  INTERNAL_ERROR: 'internal',
  BAD_RESPONSE: 'internal',
  ENGINE_FAILED: 'internal',
  UNSUPPORTED: 'internal',
  IDEMPOTENCY_MISMATCH: 'internal',
  NOT_FOUND: 'internal',
  METHOD_NOT_ALLOWED: 'internal',
  FILTER_FAILED: 'internal',
  COPY_DIFFERS: 'internal',
  USAGE: 'input',
  CONFIG: 'input',
  INVALID_REQUEST: 'input',
  UNKNOWN_MODE: 'input',
  PAYLOAD_TOO_LARGE: 'input',
  UNSUPPORTED_MEDIA_TYPE: 'input',
  NO_API_KEY: 'key',
  INVALID_API_KEY: 'key',
  FORBIDDEN: 'key',
  SESSION_NOT_FOUND: 'missing',
  NETWORK: 'transient',
  TIMEOUT: 'transient',
  ENGINE_TIMEOUT: 'transient',
  UNAVAILABLE: 'transient',
  RATE_LIMITED: 'transient',
  BUDGET_EXCEEDED: 'transient',
  SESSION_BUSY: 'transient',
  INCOMPLETE_REPLY: 'transient',
  REDIRECT: 'transient',
  SCHEMA_MISMATCH: 'mismatch',
  STORE_BUSY: 'store',
  STORAGE_FULL: 'store',
  STORE_DAMAGED: 'store',
  STORE_MISSING: 'store',
  STORE_NEWER: 'store',
  STORE_OLDER: 'store',
  STORE_UNSAFE: 'store',
} as const satisfies Record<ErrorCode, ErrorKind>;

/** One fault of a request: its place (`message`, `session_ids[3]`, `line 7`), and what is wrong there. */
export interface ErrorDetail {
  readonly field: string;
  readonly problem: string;
}

/** Further facts of a failure, besides its code and message. */
export interface ErrorFacts {
  /** What to do next, in plain words without a command, an option or a file. */
  readonly hint?: string;
  /** What to do next, as a kind and facts, for the command line to put into words. */
  readonly remedy?: Remedy | null;
  readonly details?: readonly ErrorDetail[];
  /** What is left of the budgets of a key, one of which is used up. The body of the failure has it in `details`. */
  readonly remaining?: BudgetLeft | null;
  /** The session of a chat that failed after its message was stored, and the id of that message. */
  readonly session_id?: string | null;
  readonly message_id?: string | null;
  /** Seconds to wait before another try; null if that is not known. */
  readonly retryAfter?: number | null;
  /** True if an earlier attempt of the same request got no answer: the server may have carried it out. */
  readonly mayHaveActed?: boolean;
  /** The body of the failure, exactly as a server sent it. */
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** The most characters of a message. A longer one loses its middle. The words of a server have at most half of them. */
const maxCharacters = 4000;
/** A hint may hold a list of names. */
const maxHintCharacters = 16_000;

/**
 * A failure with a code. `message` says what failed. `hint` and `remedy` say what to do next; they are empty and null if there is
 * nothing to do.
 */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly remedy: Remedy | null;
  readonly details: readonly ErrorDetail[];
  readonly remaining: BudgetLeft | null;
  readonly session_id: string | null;
  readonly message_id: string | null;
  readonly retryAfter: number | null;
  readonly mayHaveActed: boolean;
  readonly body: unknown;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(withoutMiddle(message, maxCharacters), { cause: facts.cause });
    this.code = code;
    this.hint = withoutMiddle(facts.hint ?? '', maxHintCharacters);
    this.remedy = facts.remedy ?? null;
    this.details = facts.details ?? [];
    this.remaining = facts.remaining ?? null;
    this.session_id = facts.session_id ?? null;
    this.message_id = facts.message_id ?? null;
    this.retryAfter = facts.retryAfter ?? null;
    this.mayHaveActed = facts.mayHaveActed ?? false;
    this.body = facts.body ?? null;
  }

  get kind(): ErrorKind {
    return errorKind[this.code];
  }

  /** The same failure with these facts in place of its own. Its other facts stay. The failure becomes the cause of the new one. */
  with({ message = this.message, ...facts }: ErrorFacts & { readonly message?: string }): ParleyError {
    return new ParleyError(this.code, message, { ...this, cause: this, ...facts });
  }
}

/** True for a failure with this code. */
export function hasCode(error: unknown, code: ErrorCode): error is ParleyError {
  return error instanceof ParleyError && error.code === code;
}

/** The message of a thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
