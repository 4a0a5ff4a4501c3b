// Classifies the errors of PostgreSQL and of the network: whether the same call may be sent again, and which error a user reads. The codes
// are SQLSTATEs (PostgreSQL documentation, appendix A).
import { ParleyError } from '../../service/errors.ts';
import { meaningOf, settingsFault } from './error-meanings.ts';

const passingCodes = [
  '57P01', // The server is shutting down,
  '57P02', // has crashed,
  '57P03', // or is starting.
  '57P05', // The server has ended an idle connection,
  '25P03', // an idle transaction,
  '25P04', // or a transaction that took too long.
  '53300', // There are too many connections.
  '25006', // The server takes no writes, for example since it was demoted.
  '40001', // Serialization failure
  '40P01', // Deadlock
  '55P03', // The wait for a lock took too long.
  '57014', // The statement took too long, or was cancelled.
];
const lostConnection = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
];

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** True if the connection cannot be used again: it is lost, or its server does not accept writes. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return isOfServer(code) ? /^(57P0|08|25P0[34]|53300|25006)/.test(code) : true;
}

/** True if the same call may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (settingsFault(code, messageOf(error)) !== null) return false;
  if (code.startsWith('08') || passingCodes.includes(code) || lostConnection.includes(code)) return true;
  if (isOfServer(code) || !(error instanceof Error)) return false;
  return /connection terminated|timeout|Client has encountered|error establishing an SSL/i.test(
    error.message,
  );
}

export function isDeadlock(error: unknown): boolean {
  return codeOf(error) === '40P01';
}

/** Whether the server stopped the statement: it took longer than `statement_timeout`, or it was cancelled. */
export function isStopped(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** Whether it is a code of PostgreSQL, not of the network. */
function isOfServer(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a connection gave no answer in time (pg's own words: it has no code for that). */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/**
 * Whether the values of one call may have made the statement of a whole group fail: others may be right, or short enough for what is left.
 */
export function isOfOneCall(error: unknown): boolean {
  return /^(22|23|54|53[124])/.test(codeOf(error));
}

/**
 * True for a statement that does not fit the schema: a name that is not there, a type or a prepared plan that has changed, a new column
 * that must have a value.
 */
export function isOfStatement(error: unknown): boolean {
  return /^(42(?!501)|0A000|23502)/.test(codeOf(error));
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
  const message = messageOf(error);
  const { code, what, hint } = meaningOf(codeOf(error), message, isPassing(error));
  const again = code === 'UNAVAILABLE' ? { retryAfter: 1 } : {};
  return new ParleyError(code, `The database ${name} ${what} (${message}).`, {
    hint,
    ...again,
    cause: error,
  });
}
