// What a user reads of a connection that cannot be opened, for errors that a database of the tests does not cause.
import { expect, test } from 'vitest';
import { isPassing, storeError } from '../../../src/store/postgres/postgres-errors.ts';

const missingPassword = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string';

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', 'cannot be trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', 'cannot be trusted'],
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'cannot be trusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname/IP does not match', 'cannot be trusted'],
  [undefined, 'The server does not support SSL connections', 'offers no encryption'],
  [undefined, missingPassword, 'asks for a password'],
  ['28P01', 'password authentication failed for user "ada"', 'refuses the connection'],
])('%s (%s) is a fault of the settings, which no repetition mends', (code, message, what) => {
  const error = Object.assign(new Error(message), { code });
  expect(isPassing(error)).toBe(false);
  expect(storeError(error, 'postgres://db/sessions')).toMatchObject({
    ...{ code: 'CONFIG', message: expect.stringContaining(what), hint: expect.stringMatching(/^[A-Z].*\.$/) },
  });
});

test.each([
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND db.example'],
  ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN db.example'],
  ['ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'],
  ['53300', 'sorry, too many clients already'],
  // A server that cannot start a process for the connection.
  [undefined, 'There was an error establishing an SSL connection'],
])('%s (%s) may pass', (code, message) => {
  const error = Object.assign(new Error(message), { code });
  expect(isPassing(error)).toBe(true);
  expect(storeError(error, 'postgres://db/sessions')).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 });
});
