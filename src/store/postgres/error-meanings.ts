// What a user reads of an error of PostgreSQL, or of the network on the way to it: what it means, and what helps. The codes are SQLSTATEs.
import type { ErrorCode } from '../../service/errors.ts';

interface Meaning {
  readonly code: ErrorCode;
  /** What the database does or is; the message says it after the name of the database. */
  readonly what: string;
  readonly hint: string;
}

const again = 'Try again in a moment.';

const pooler = '08P01';
const noAnswer = unavailable(
  'gives no answer',
  'If it happens again, check its address, and that PostgreSQL is running there.',
);
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
const passwordMissing: Meaning = {
  code: 'CONFIG',
  what: 'asks for a password',
  hint: 'Name the source of the password for this user, host and database.',
};
const notEncrypted: Meaning = {
  code: 'CONFIG',
  what: 'offers no encryption',
  hint: 'Turn TLS on there, or do not ask for it.',
};
const notTrusted: Meaning = {
  code: 'CONFIG',
  what: 'cannot be trusted',
  hint: 'Check its certificate, the authorities that are given for it, and the name of the host.',
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
    hint: 'Let its owner grant USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables. The first use creates them and needs CREATE on the database.',
  },
  // XX000 is anything that PostgreSQL did not foresee, a disk quota among it.
  XX001: damaged,
  XX002: damaged,
};

/**
 * The meaning of a connection that the settings of either side do not allow; null for any other error. A pooler has one code (08P01) for
 * all of its errors, and its messages are in English. pg has no codes for its own errors.
 */
export function settingsFault(code: string, message: string): Meaning | null {
  if (/^(28|3D)/.test(code)) return loginRefused;
  if (code === pooler && /authentication failed|no such (user|database)/i.test(message)) return loginRefused;
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code)) return notTrusted;
  if (code !== '') return null;
  if (/client password must be/.test(message)) return passwordMissing;
  return /does not support SSL/.test(message) ? notEncrypted : null;
}

export function meaningOf(code: string, message: string, isPassing: boolean): Meaning {
  if (code === pooler && /no more connections|query_wait_timeout/i.test(message)) return noConnection;
  return settingsFault(code, message) ?? meanings[code] ?? (isPassing ? noAnswer : unforeseen);
}

function unavailable(what: string, hint: string): Meaning {
  return { code: 'UNAVAILABLE', what, hint: `${again} ${hint}`.trim() };
}
