// The HTTP status of each error code. Each kind of error has a status. Codes that HTTP distinguishes have a status of their own.
import { type ErrorCode, type ErrorKind, errorKind } from '../service/errors.ts';

const statusOfKind = {
  input: 400,
  key: 401,
  missing: 404,
  transient: 503,
  store: 500,
  mismatch: 500,
  internal: 500,
} as const satisfies Record<ErrorKind, number>;

const statusOfCode: Partial<Record<ErrorCode, number>> = {
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SESSION_BUSY: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  BUDGET_EXCEEDED: 429,
  ENGINE_FAILED: 502,
  ENGINE_TIMEOUT: 504,
  STORAGE_FULL: 507,
};

export function errorStatus(code: ErrorCode): number {
  return statusOfCode[code] ?? statusOfKind[errorKind[code]];
}

/** True for a status that asks the client to retry later. */
export function asksToRetry(status: number): boolean {
  return status === 429 || status === 503;
}
