// The path of an operation, with encoded ids.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationPath } from '../../src/wire/operation-path.ts';

describe('the path of an operation', () => {
  it.each([
    ['ses_1', '/v1/sessions/ses_1'],
    ['a/b?c#d', '/v1/sessions/a%2Fb%3Fc%23d'],
    ['%2e%2e', '/v1/sessions/%252e%252e'],
    ['…', '/v1/sessions/%E2%80%A6'],
    ['$&', '/v1/sessions/%24%26'],
    ['...', '/v1/sessions/...'],
  ])('names the session %j as one segment', (sessionId, path) => {
    expect(operationPath('getSession', { sessionId, query: {} })).toBe(path);
  });

  it.each(['', '.', '..', 'a\ud800'])('is none for %j', (sessionId) => {
    expect(operationPath('deleteSession', { sessionId, query: {} })).toBeNull();
  });

  it('is decoded to the same id by a server', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (sessionId) => {
        const path = operationPath('listMessages', { sessionId, query: {} });
        if (path === null) return;
        const segments = new URL(path, 'http://server').pathname.split('/');
        expect(segments).toHaveLength(5);
        expect(decodeURIComponent(segments[3] ?? '')).toBe(sessionId);
      }),
    );
  });

  it('has its query, without null values', () => {
    const query = { limit: 5, cursor: null, title_match: 'a b&c', deleted: false };
    expect(operationPath('listSessions', { sessionId: null, query })).toBe(
      '/v1/sessions?limit=5&title_match=a+b%26c&deleted=false',
    );
  });
});
