// What a request that got no answer means to its user.
import { expect, it } from 'vitest';
import { HttpFailure } from '../../src/http/http-failure.ts';
import { failureOf } from '../../src/remote/failure.ts';

it('a longer silence is offered only where there was a connection to be silent', () => {
  const failed = (sent: boolean) => failureOf(new HttpFailure('timeout', sent, 'no answer'), 'GET');
  expect(failed(true)).toMatchObject({ code: 'TIMEOUT', hint: expect.stringContaining('--timeout') });
  expect(failed(false)).toMatchObject({ code: 'TIMEOUT', hint: expect.not.stringContaining('--timeout') });
});
