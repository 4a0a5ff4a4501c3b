// Success or failure of a response of any server: first the status, then the body.
import { describe, expect, it } from 'vitest';
import { ParleyError, serviceErrorCodes } from '../../src/service/errors.ts';
import { errorStatus } from '../../src/wire/error-status.ts';
import type { Operation } from '../../src/wire/routes.ts';
import { successBody } from '../../src/wire/success-body.ts';

const answer = (status: number, text: string, retryAfter: number | null = null) => ({
  status,
  text,
  retryAfter,
  request: 'GET http://server/v1/models',
});

function failure(operation: Operation, status: number, body: unknown, retryAfter: number | null = null) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  try {
    successBody(operation, answer(status, text, retryAfter));
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
  throw new Error('expected a failure');
}

describe('a success', () => {
  it('is the whole body, including unknown fields', () => {
    const body = { success: true, data: { a: 1 }, extra: [1, { deep: null }] };
    expect(successBody('models', answer(200, JSON.stringify(body)))).toEqual(body);
    expect(successBody('createSession', answer(201, JSON.stringify(body)))).toEqual(body);
  });

  it.each(['', '\n'])('is a deletion answered with %j', (text) => {
    expect(successBody('deleteSession', answer(204, text))).toBeNull();
  });

  it.each([
    ['an empty body', ''],
    ['an HTML page', '<!doctype html><title>Welcome</title>'],
    ['cut JSON', '{"success":true,"data":{"ses'],
    ['a bare array', '[{"name":"echo"}]'],
    ['a string', '"fine"'],
    ['null', 'null'],
    ['no success', '{"data":{}}'],
    ['success as a text', '{"success":"true","data":{}}'],
    ['success as a number', '{"success":1}'],
  ])('is not %s', (_, text) => {
    const error = failure('models', 200, text);
    expect(error.code).toBe('BAD_RESPONSE');
    expect(error.message).toContain('GET http://server/v1/models');
    expect(error.hint).not.toBe('');
  });
});

describe('a failure', () => {
  it('is reported on one line, with the code of the server', () => {
    const body = { success: false, error: { code: 'X\nparley: Y', message: 'a\r\nparley: b' } };
    expect(failure('models', 500, body).message).toBe('a parley: b [X parley: Y]');
  });

  it.each([
    [
      'error.code and error.message',
      { success: false, error: { code: 'UNKNOWN_MODE', message: 'No such mode.' } },
    ],
    ['code and message', { success: false, code: 'UNKNOWN_MODE', message: 'No such mode.' }],
    ['error as the code', { success: false, error: 'UNKNOWN_MODE', message: 'No such mode.' }],
  ])('is told as %s', (_, body) => {
    const error = failure('chat', 400, body);
    expect([error.code, error.message]).toEqual(['UNKNOWN_MODE', 'No such mode.']);
    expect(error.body).toEqual(body);
  });

  it('may be a single string', () => {
    expect(failure('chat', 400, { success: false, error: 'no credit left' }).message).toBe('no credit left');
  });

  it.each(serviceErrorCodes)('with the code %s keeps it', (code) => {
    const error = failure('chat', errorStatus(code), { success: false, error: { code, message: 'So.' } });
    expect([error.code, error.message]).toEqual([code, 'So.']);
  });

  it.each([
    [400, 'INVALID_REQUEST'],
    [402, 'BAD_RESPONSE'],
    [403, 'BAD_RESPONSE'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [409, 'SESSION_BUSY'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [422, 'INVALID_REQUEST'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_ERROR'],
    [502, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [504, 'ENGINE_TIMEOUT'],
    [507, 'STORAGE_FULL'],
    [599, 'INTERNAL_ERROR'],
    [600, 'BAD_RESPONSE'],
    [999, 'BAD_RESPONSE'],
    [200, 'BAD_RESPONSE'],
  ])('with status %d and an unknown code is %s, in the server’s words and with its code', (status, code) => {
    const error = failure('chat', status, {
      success: false,
      error: { code: 'QUOTA', message: 'Too\nmuch.' },
    });
    expect([error.code, error.message]).toEqual([code, 'Too much. [QUOTA]']);
  });

  it('cannot claim a code of this side', () => {
    const error = failure('chat', 503, { success: false, error: { code: 'STORE_DAMAGED', message: 'x' } });
    expect(error.code).toBe('UNAVAILABLE');
  });

  it('with success false is a failure, whatever its status', () => {
    const body = { success: false, error: { code: 'SESSION_NOT_FOUND', message: 'Gone.' } };
    expect(failure('getSession', 200, body).code).toBe('SESSION_NOT_FOUND');
  });

  it('with an error status is a failure, whatever its success field', () => {
    expect(failure('models', 500, { success: true, data: [] }).code).toBe('INTERNAL_ERROR');
  });

  it.each(['', '<h1>No</h1>', '{"success":true}', '{"error":{"code":"RATE_LIMITED"}}'])(
    'with status 401 is a refused key, whatever its body: %j',
    (text) => {
      for (const operation of ['verify', 'chat', 'listSessions', 'deleteSession'] as const) {
        expect(failure(operation, 401, text).code).toBe('INVALID_API_KEY');
      }
    },
  );

  it.each([404, 500, 502])('with status %d that is not JSON is not a response of this API', (status) => {
    const error = failure('models', status, '<html><h1>Bad Gateway</h1></html>');
    expect(error.code).toBe('BAD_RESPONSE');
    expect(error.message).toContain(String(status));
    expect(error.message).not.toContain('<');
  });

  it.each([
    [404, /^Check the URL/],
    [413, /^A gateway in front of the server accepts no request of this size/],
    [502, /^A gateway in front of the server got no response from it\. Try again/],
    [504, /^A gateway in front of the server got no response from it\. Try again/],
    [522, /^A gateway in front of the server got no response from it\. Try again/],
  ])('with status %d and a page of a gateway says what helps', (status, hint) => {
    expect(failure('chat', status, '<html>Bad Gateway</html>').hint).toMatch(hint);
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [503, 'UNAVAILABLE'],
  ])('with status %d says when to come again, with any body', (status, code) => {
    const error = failure('models', status, '<html>busy</html>', 7);
    expect([error.code, error.retryAfter]).toEqual([code, 7]);
    expect(error.hint).toContain('7 s');
  });

  it('keeps its details and its place', () => {
    const error = failure('chat', 502, {
      success: false,
      error: {
        code: 'ENGINE_FAILED',
        message: 'x',
        details: [{ field: 'mode', problem: 'is odd' }, 'nonsense', { field: 1, problem: 2 }],
        session_id: 'ses_1',
        message_id: 'msg_1',
      },
    });
    expect(error.details).toEqual([{ field: 'mode', problem: 'is odd' }]);
    expect([error.session_id, error.message_id]).toEqual(['ses_1', 'msg_1']);
  });

  it('that is very long is shortened', () => {
    const error = failure('chat', 400, {
      success: false,
      error: { code: 'X', message: 'a'.repeat(100_000) },
    });
    expect(error.message.length).toBeLessThan(3000);
  });
});

describe('an operation of the archive', () => {
  const archive = [
    'listSessions',
    'listMessages',
    'changeSession',
    'restoreSession',
    'deleteSessions',
  ] as const;
  it.each([
    [404, ''],
    [404, '<h1>Not Found</h1>'],
    [405, '{"success":false,"error":{"code":"NOT_FOUND","message":"no"}}'],
  ])('answered with %d and %j is unsupported', (status, text) => {
    for (const operation of archive) expect(failure(operation, status, text).code).toBe('UNSUPPORTED');
  });

  const notFound = '{"success":false,"error":{"code":"SESSION_NOT_FOUND","message":"Gone."}}';

  it('on a missing session says so', () => {
    for (const operation of ['listMessages', 'changeSession', 'restoreSession'] as const) {
      expect(failure(operation, 404, notFound).code).toBe('SESSION_NOT_FOUND');
    }
  });

  it('that names no session is unsupported if the server reads the path as a session’s', () => {
    for (const operation of ['deleteSessions', 'listSessions'] as const) {
      expect(failure(operation, 404, notFound).code).toBe('UNSUPPORTED');
    }
  });
});
