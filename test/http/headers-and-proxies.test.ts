// Retry-After, and the choice of the proxy from the environment.
import { describe, expect, it } from 'vitest';
import { type ProxyVariables, proxyFor } from '../../src/http/proxy-choice.ts';
import { readRetryAfter, retryAfterOf } from '../../src/http/retry-after.ts';

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['0', 0],
    [' 120 ', 120],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10],
    ['Thu, 01 Jan 2026 00:00:00.5 GMT', 1],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['Thursday, 01-Jan-26 00:00:03 GMT', 3],
    ['soon', null],
    ['-5', null],
    ['7.66', 8],
    ['86401', 86_400],
    ['9'.repeat(400), 86_400],
    ['Thu, 01 Jan 2099 00:00:00 GMT', 86_400],
    ['1.5.2', null],
    ['1e3', null],
    ['', null],
    [null, null],
  ])('%j means %j seconds', (value, seconds) => {
    expect(readRetryAfter(value, now)).toBe(seconds);
  });

  it.each([
    [{ 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after-ms': '0.4' }, 1],
    [{ 'retry-after-ms': '1500', 'retry-after': '20' }, 20],
    [{ 'retry-after-ms': '1500', 'retry-after': 'soon' }, 2],
    [{ 'retry-after-ms': '1e99' }, null],
    [{ 'retry-after-ms': '9'.repeat(20) }, 86_400],
    [{ 'retry-after-ms': '-1' }, null],
    [{}, null],
  ])(
    'or what stands in for it, %j, means %j seconds',
    (headers: Readonly<Record<string, string>>, seconds) => {
      expect(retryAfterOf((name) => headers[name] ?? null, now)).toBe(seconds);
    },
  );
});

describe('the proxy', () => {
  const both = { HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'http://secure:2' };
  const cases: readonly [string, ProxyVariables, string | null][] = [
    ['https://api.example', {}, null],
    ['https://api.example', both, 'http://secure:2'],
    ['http://api.example', both, 'http://plain:1'],
    ['https://api.example', { HTTP_PROXY: 'http://plain:1' }, 'http://plain:1'],
    ['http://api.example', { HTTPS_PROXY: 'http://secure:2' }, null],
    ['https://api.example', { ...both, https_proxy: 'http://lower:3' }, 'http://lower:3'],
    ['https://api.example', { HTTPS_PROXY: 'secure:2' }, 'http://secure:2'],
    ['https://api.example', { HTTPS_PROXY: '' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'api.example' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'other, example' }, null],
    ['https://api.example', { ...both, NO_PROXY: '.example' }, null],
    ['https://api.example', { ...both, NO_PROXY: '*.EXAMPLE' }, null],
    ['https://api.example', { ...both, NO_PROXY: '*' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'api.example:443' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'api.example:8443' }, 'http://secure:2'],
    ['https://api.example:8443', { ...both, NO_PROXY: 'api.example:8443' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'pi.example' }, 'http://secure:2'],
    ['https://api.example', { ...both, NO_PROXY: 'other', no_proxy: 'api.example' }, null],
    ['https://api.example', { ...both, NO_PROXY: ', ' }, 'http://secure:2'],
    ['http://localhost:8787', both, null],
    ['http://parley.localhost', both, null],
    ['http://127.0.0.1:8787', both, null],
    ['http://127.9.9.9', both, null],
    ['http://[::1]:8787', both, null],
    ['http://parley.localhost.', both, null],
    ['http://[::ffff:127.0.0.1]', both, null],
    ['https://[2001:db8::1]', { ...both, NO_PROXY: '2001:db8::1' }, null],
    ['https://[2001:db8::1]', { ...both, NO_PROXY: '[2001:DB8::1]:443' }, null],
    ['https://[2001:db8::1]:1', { ...both, NO_PROXY: '[2001:db8::1]:443' }, 'http://secure:2'],
    ['https://10.1.2.3', { ...both, NO_PROXY: 'other,10.0.0.0/8' }, null],
    ['https://11.1.2.3', { ...both, NO_PROXY: '10.0.0.0/8' }, 'http://secure:2'],
    ['https://172.16.255.1:8443', { ...both, NO_PROXY: '172.16.128.0/17' }, null],
    ['https://172.16.127.1', { ...both, NO_PROXY: '172.16.128.0/17' }, 'http://secure:2'],
    ['https://[2001:db8:1::1]', { ...both, NO_PROXY: '2001:DB8::/32' }, null],
    ['https://[2001:db9::1]', { ...both, NO_PROXY: '[2001:db8::]/32' }, 'http://secure:2'],
    ['https://10.1.2.3', { ...both, NO_PROXY: '::/0, 10.0.0.0/33, 10.0.0/8' }, 'http://secure:2'],
    ['https://api.example', { ...both, NO_PROXY: '0.0.0.0/0' }, 'http://secure:2'],
    ['http://10.1.2.3:8080', { ...both, NO_PROXY: '10.1.2.3/32' }, null],
    ['https://[fd00::1]', { ...both, NO_PROXY: 'FD00::/8' }, null],
    ['https://[fd00::1]', { ...both, NO_PROXY: '[fd00::]/8' }, null],
    ['https://[2001:db8::1]', { ...both, NO_PROXY: 'fd00::/8,10.0.0.0/8' }, 'http://secure:2'],
    ['https://10.1.2.3', { ...both, NO_PROXY: '10.0.0.0/33, 10/8, 1.2.3.4.5/8, /8' }, 'http://secure:2'],
    ['https://api.example.', { ...both, NO_PROXY: 'api.example' }, null],
    ['https://api.example', { ...both, NO_PROXY: 'example.' }, null],
    ['https://api.example', { HTTPS_PROXY: 'socks5://secure:2' }, 'socks5://secure:2'],
    ['http://127.example', both, 'http://plain:1'],
    ['http://notlocalhost', both, 'http://plain:1'],
  ];
  it.each(cases)('for %s with %j is %j', (origin, env, expected) => {
    expect(proxyFor(origin, env)).toBe(expected);
  });

  it.each([
    'http://u:secret@[bad',
    'ftp://u:secret@proxy:1',
    'file:///secret',
    'socks5h://u:secret@proxy:1',
    'http:/secret:3128',
    'u:secret/@proxy:3128',
    'http://u:secret@proxy:99999',
    'http://u:secret%@proxy',
    'http://secret%e0:x@proxy',
    '://secret',
    'http://',
  ])('that cannot be used, %s, is refused by the name of its variable, without its value', (value) => {
    const choose = () => proxyFor('https://api.example', { https_proxy: value });
    expect(choose).toThrow(TypeError);
    expect(choose).toThrow(/variable https_proxy/);
    expect(choose).not.toThrow(/secret/);
  });
});
