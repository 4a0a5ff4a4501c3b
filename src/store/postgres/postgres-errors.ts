// Classifies the errors of PostgreSQL and of the network: whether the same call may be sent again, and which error a user reads. The codes
// are SQLSTATEs (PostgreSQL documentation, appendix A).
import { ParleyError } from '../../service/errors.ts';

/** The server is shutting down, starting, full, or read-only after it was demoted; serialization failures, deadlocks, lock time-outs. */
const passingCodes = ['57P01', '57P02', '57P03', '53300', '25006', '40001', '40P01', '55P03'];
const lostConnection = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENOENT',
];

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** True if the connection cannot be used again: it is lost, or its server does not accept writes. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')) return /^(57P0|08|53300|25006)/.test(code);
  return true;
}

/** True if the same call may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (code.startsWith('08') || passingCodes.includes(code) || lostConnection.includes(code)) return true;
  return (
    error instanceof Error && /connection terminated|timeout|Client has encountered/i.test(error.message)
  );
}

/** True if the values of one call made the statement of the whole group fail. */
export function isOfOneCall(error: unknown): boolean {
  return /^(22|23)/.test(codeOf(error));
}

/** True if another call recorded the same idempotency key first, at the same moment. */
export function isKeyTaken(error: unknown): boolean {
  return (
    codeOf(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === 'idempotency_pkey'
  );
}

/** True if a pooler gave the connection to another backend, which does not know the prepared statement or knows it already. */
export function isPrepareRefused(error: unknown): boolean {
  return codeOf(error) === '26000' || codeOf(error) === '42P05';
}

/** The error that a user reads. `name` is the store without user and password. A `ParleyError` stays unchanged. */
export function storeError(error: unknown, name: string): ParleyError {
  if (error instanceof ParleyError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  if (isPassing(error) || code === '57014') {
    return new ParleyError('UNAVAILABLE', `The database ${name} gives no answer (${said}).`, {
      hint: 'Try again in a moment.',
      retryAfter: 1,
      cause: error,
    });
  }
  switch (code.slice(0, 2)) {
    case '53':
      return new ParleyError('STORAGE_FULL', `The database ${name} has no room left (${said}).`, {
        hint: 'This was not kept; what was kept before is intact. Free some space there and try again.',
        cause: error,
      });
    case '28':
    case '3D':
      return new ParleyError('CONFIG', `The database ${name} refuses the connection (${said}).`, {
        hint: 'Correct the user, the password or the name of the database.',
        cause: error,
      });
    case '42':
      if (code === '42501') {
        return new ParleyError('STORE_UNSAFE', `The database ${name} does not allow this (${said}).`, {
          hint: 'Let its owner grant USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables.',
          cause: error,
        });
      }
      break;
    case 'XX':
      return new ParleyError('STORE_DAMAGED', `The database ${name} is damaged (${said}).`, {
        hint: 'Nothing was overwritten. Look into the log of the database.',
        cause: error,
      });
  }
  return new ParleyError('INTERNAL_ERROR', `The database ${name} failed (${said}).`, { cause: error });
}
