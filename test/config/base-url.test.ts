// Which URLs a key may be sent to.
import { expect, test } from 'vitest';
import { readBaseUrl } from '../../src/config/base-url.ts';

const read = (text: string, insecureHttp = false) => readBaseUrl(text, 'PARLEY_URL', { insecureHttp });

test.each([
  ['https://one.example', 'https://one.example'],
  ['https://one.example/', 'https://one.example'],
  ['HTTPS://One.Example:443/', 'https://one.example'],
  ['https://one.example:8443/api/v2/', 'https://one.example:8443/api/v2'],
  ['https://one.example/api//', 'https://one.example/api'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://api.localhost', 'http://api.localhost'],
  ['http://127.0.0.1:1', 'http://127.0.0.1:1'],
  ['http://127.9.8.7', 'http://127.9.8.7'],
  ['http://127.1', 'http://127.0.0.1'],
  ['http://[::1]:80/x', 'http://[::1]/x'],
  ['http://0x7f.1', 'http://127.0.0.1'],
  ['http://2130706433', 'http://127.0.0.1'],
  ['http://127.0.0.1.', 'http://127.0.0.1'],
  ['http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]'],
  ['http://LOCALHOST.:1', 'http://localhost.:1'],
])('%s is %s', (text, url) => {
  expect(read(text)).toBe(url);
});

test.each([
  '',
  'one.example',
  'ftp://one.example',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:one.example',
  'https://',
  'https://ada:secret@one.example',
  'https://ada@one.example',
  'ftp://ada:secret@one.example',
  'https://one.example\n',
  ' https://one.example',
  'https://one.example/\tx',
  'https://one.example/\u0000',
  'https://one.example/\u202e',
  'https://one.example/?secret=1',
  'https://one.example/#secret',
  'http://one.example',
  'http://localhost.one.example',
  'http://notlocalhost',
  'http://127.0.0.1.one.example',
  'http://0.0.0.0',
  'http://[::ffff:10.0.0.1]',
  'http://128.0.0.1',
  'http://[::]',
  'http://[::ffff:127.0.0.1.one.example]',
  'http://[::7f00:1]',
  'http://localhost..',
  'http://.localhost.one.example',
])('%j is refused, with its source named and not repeated', (text) => {
  const error = expect.objectContaining({
    code: 'CONFIG',
    message: expect.stringMatching(/^The URL of PARLEY_URL /),
  });
  expect(() => read(text)).toThrow(error);
  expect(() => read(text)).not.toThrow(/secret/);
});

test('unencrypted HTTP to another host is allowed when asked for, and other faults are not', () => {
  expect(read('http://one.example/x/', true)).toBe('http://one.example/x');
  expect(() => read('ftp://one.example', true)).toThrow();
  expect(() => read('http://ada@one.example', true)).toThrow();
});

test.each([
  ['127.0.0.1:8787', 'http://127.0.0.1:8787'],
  ['localhost:8787', 'http://localhost:8787'],
  ['localhost', 'http://localhost'],
  ['[::1]:8787/api', 'http://[::1]:8787/api'],
  ['api.example.com', 'https://api.example.com'],
  ['api.example.com/v2/', 'https://api.example.com/v2/'],
  ['10.0.0.7:8080', 'https://10.0.0.7:8080'],
  ['gateway:8080', 'https://gateway:8080'],
])('%s lacks a scheme, and the error shows what to use', (text, url) => {
  const from = (source: string) => () => readBaseUrl(text, source, { insecureHttp: false });
  const refusal = (source: string, hint: string) =>
    expect.objectContaining({ code: 'CONFIG', message: `The URL of ${source} has no scheme.`, hint });
  expect(from('--url')).toThrow(refusal('--url', `Use --url ${url}`));
  expect(from('PARLEY_URL')).toThrow(refusal('PARLEY_URL', `Use PARLEY_URL=${url}`));
  expect(from('profile work')).toThrow(refusal('profile work', `Use ${url}`));
});

test.each([
  'ada:secret',
  'ada:secret@one.example',
  'ada:1234@one.example',
  'one.example/?key=secret',
  'prl_secret',
  'eyJhbGciOi.eyJzdWIiOi.Abc_secret-0',
  '999.0.0.1:80',
  'one.example:99999',
])('%s is not quoted, because it may hold a secret or is no host', (text) => {
  const refusal = expect.objectContaining({ code: 'CONFIG', hint: expect.not.stringContaining(text) });
  expect(() => read(text)).toThrow(refusal);
});
