// The failures of requests without a response.
import { expect, it } from 'vitest';
import { HttpFailure } from '../../src/http/http-failure.ts';
import { failureOf } from '../../src/remote/failure.ts';

it('a longer time-out is suggested only if there was a connection', () => {
  const failed = (isSent: boolean) => failureOf(new HttpFailure('timeout', 'no answer', { isSent }), 'GET');
  const remedy = { kind: 'allow_longer_silence', mode: null };
  expect(failed(true)).toMatchObject({ code: 'TIMEOUT', remedy });
  expect(failed(false)).toMatchObject({ code: 'TIMEOUT', remedy: null });
});
