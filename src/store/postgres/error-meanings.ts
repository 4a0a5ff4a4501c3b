// What a user reads of an error of PostgreSQL, or of the network on the way to it: what it means, and what helps. The codes are SQLSTATEs.
import type { ErrorCode } from '../../service/errors.ts';

export interface Meaning {
  readonly code: ErrorCode;
  /** Of the database: what it does, or is. */
  readonly what: string;
  readonly hint: string;
}

const again = 'Try again in a moment.';

const pooler = '08P01';
const noAnswer = unavailable('gives no answer', '');
const noConnection = unavailable(
  'has no connection free',
  'If it happens again, let each process open fewer connections, or allow more of them there.',
);
const noResources = unavailable('has no memory or files left', 'Its log says what it needs.');
const unforeseen: Meaning = { code: 'INTERNAL_ERROR', what: 'failed', hint: '' };
const loginRefused: Meaning = {
  code: 'CONFIG',
  what: 'refuses the connection',
  hint: 'Correct the user, the password or the name of the database.',
};
const damaged: Meaning = {
  code: 'STORE_DAMAGED',
  what: 'is damaged',
  hint: 'Nothing was overwritten. Look into the log of the database.',
};

const meanings: Readonly<Record<string, Meaning>> = {
  '25006': unavailable(
    'takes no writes',
    'If it stays so, it is a standby, or default_transaction_read_only is on for this user or this database. Some hosts turn that on when the disk is nearly full.',
  ),
  '55000': unavailable(
    'does not allow this now',
    'If it happens again, let its owner allow connections to it.',
  ),
  '57014': unavailable(
    'stopped a statement',
    'If it happens again, raise statement_timeout for this user or this database.',
  ),
  '55P03': unavailable(
    'has waited too long for a lock',
    'If it happens again, look into pg_locks for who holds it, or raise lock_timeout for this user or this database.',
  ),
  '53300': noConnection,
  '53000': noResources,
  '53200': noResources,
  '53100': {
    code: 'STORAGE_FULL',
    what: 'has no room left',
    hint: 'This was not kept; what was kept before is intact. Free some space there and try again.',
  },
  '53400': {
    code: 'STORAGE_FULL',
    what: 'allows no more',
    hint: 'This was not kept; what was kept before is intact. Raise that limit for this user or this database.',
  },
  '42501': {
    code: 'STORE_UNSAFE',
    what: 'does not allow this',
    hint: 'Let its owner grant USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables.',
  },
  // XX000 is anything that PostgreSQL did not foresee, a disk quota among it.
  XX001: damaged,
  XX002: damaged,
};

/** `message`: the message of the error. A pooler has one code (08P01) for all of its errors, and its messages are in English. */
export function isLoginRefused(code: string, message: string): boolean {
  return (
    /^(28|3D)/.test(code) ||
    (code === pooler && /authentication failed|no such (user|database)/i.test(message))
  );
}

export function meaningOf(code: string, message: string, isPassing: boolean): Meaning {
  if (isLoginRefused(code, message)) return loginRefused;
  if (code === pooler && /no more connections|query_wait_timeout/i.test(message)) return noConnection;
  return meanings[code] ?? (isPassing ? noAnswer : unforeseen);
}

function unavailable(what: string, hint: string): Meaning {
  return { code: 'UNAVAILABLE', what, hint: `${again} ${hint}`.trim() };
}
