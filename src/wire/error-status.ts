// Error codes as HTTP statuses. A kind has one status; codes that HTTP tells apart have one of their own.
import { type ErrorCode, type ErrorKind, errorKind } from '../service/errors.ts';

const statusOfKind = {
  input: 400,
  key: 401,
  missing: 404,
  transient: 503,
  store: 500,
  internal: 500,
} as const satisfies Record<ErrorKind, number>;

const statusOfCode: Partial<Record<ErrorCode, number>> = {
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  SESSION_BUSY: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  ENGINE_FAILED: 502,
  ENGINE_TIMEOUT: 504,
  STORAGE_FULL: 507,
};

export function errorStatus(code: ErrorCode): number {
  return statusOfCode[code] ?? statusOfKind[errorKind[code]];
}

/** The statuses of a server that is there and does not take the request now: the request was not carried out. */
export function isTurnedAway(status: number): boolean {
  return status === 429 || status === 503;
}
