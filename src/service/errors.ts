// Every failure of Parley is one class with one closed list of codes. What a code means as an exit status or as an HTTP
// status is a table of its own, beside its reader.

/** The codes that a server of the API answers with (interface document section 7, and this service's own). */
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
  'INTERNAL_ERROR',
  'ENGINE_FAILED',
  'ENGINE_TIMEOUT',
  'UNAVAILABLE',
  'STORAGE_FULL',
] as const;

/** The codes that arise on this side: usage, configuration, the network, the local store. */
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
  'STORE_BUSY',
  'STORE_DAMAGED',
  'STORE_MISSING',
  'STORE_NEWER',
  'STORE_UNSAFE',
] as const;

export type ErrorCode = (typeof serviceErrorCodes)[number] | (typeof clientErrorCodes)[number];

/** One fault of a request: where it is (`message`, `session_ids[3]`, `line 7`) and what is wrong there. */
export interface ErrorDetail {
  readonly field: string;
  readonly problem: string;
}

export interface ErrorFacts {
  /** What to do next, a sentence. */
  readonly hint?: string;
  readonly details?: readonly ErrorDetail[];
  /** The session and the stored message of a chat that failed after its message was kept. */
  readonly session_id?: string;
  readonly message_id?: string;
  /** Seconds to wait before another try, where that is known. */
  readonly retryAfter?: number;
  /** True where an earlier sending of the same request got no answer: it may have done its work. */
  readonly mayHaveActed?: boolean;
  /** The body that a server sent with this failure, as it sent it. */
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** A failure with a code. `message` says what failed; `hint` says what to do next (empty when there is nothing). */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: readonly ErrorDetail[];
  readonly session_id: string | null;
  readonly message_id: string | null;
  readonly retryAfter: number | null;
  readonly mayHaveActed: boolean;
  readonly body: unknown;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint ?? '';
    this.details = facts.details ?? [];
    this.session_id = facts.session_id ?? null;
    this.message_id = facts.message_id ?? null;
    this.retryAfter = facts.retryAfter ?? null;
    this.mayHaveActed = facts.mayHaveActed ?? false;
    this.body = facts.body ?? null;
  }
}
