// What the exit status of the process says. The table is part of the interface: scripts decide by it.
import type { ErrorCode } from '../service/errors.ts';

export const exitDone = 0;
/** Several items, some of which failed. */
export const exitSomeFailed = 3;

export const exitStatus = {
  INTERNAL_ERROR: 1,
  BAD_RESPONSE: 1,
  ENGINE_FAILED: 1,
  UNSUPPORTED: 1,
  IDEMPOTENCY_MISMATCH: 1,
  NOT_FOUND: 1,
  METHOD_NOT_ALLOWED: 1,
  FILTER_FAILED: 1,
  USAGE: 2,
  CONFIG: 2,
  INVALID_REQUEST: 2,
  UNKNOWN_MODE: 2,
  PAYLOAD_TOO_LARGE: 2,
  UNSUPPORTED_MEDIA_TYPE: 2,
  NO_API_KEY: 4,
  INVALID_API_KEY: 4,
  SESSION_NOT_FOUND: 5,
  NETWORK: 6,
  TIMEOUT: 6,
  ENGINE_TIMEOUT: 6,
  UNAVAILABLE: 6,
  RATE_LIMITED: 6,
  SESSION_BUSY: 6,
  INCOMPLETE_REPLY: 6,
  REDIRECT: 6,
  STORE_BUSY: 7,
  STORAGE_FULL: 7,
  STORE_DAMAGED: 7,
  STORE_MISSING: 7,
  STORE_NEWER: 7,
  STORE_UNSAFE: 7,
} as const satisfies Record<ErrorCode, number>;
