// The texts that the log of a server hides.
import { expect, test } from 'vitest';
import { textOfLogLine } from '../../src/server/log-text.ts';
import { serverLog, withoutKeys } from '../../src/server/server-log.ts';
import { processorMs } from '../support/processor-time.ts';

const key = `pk_${'0aZ'.repeat(11)}`;
const encoded = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const layers = (text: string, count: number): string =>
  count === 0 ? text : encodeURIComponent(layers(text, count - 1));

test.each([
  ['as it is', key],
  ['with one character encoded', key.replace('p', '%70')],
  ['with its mark encoded, in upper case', key.replace('_', '%5F')],
  ['with its mark encoded, in lower case', key.replace('_', '%5f')],
  ['encoded whole', encoded(key)],
  ['encoded twice', encodeURIComponent(encoded(key))],
  ['encoded five times', layers(encoded(key), 4)],
  ['encoded a hundred times', layers(encoded(key), 99)],
  ['with the percent sign made of two encodings', key.replace('p', '%%37%30')],
  ['with its beginning in another case', key.replace('pk', 'Pk')],
  ['without its last character', key.slice(0, -1)],
  ['without its checksum', key.slice(0, -6)],
  ['with more behind it', `${key}more`],
  ['broken into two lines', `${key.slice(0, 20)}%0D%0A${key.slice(20)}`],
  ['broken by a slash', key.replace(/^.{9}/, '$&/')],
  ['with soft hyphens', [...key.slice(3)].join('%C2%AD').replace(/^/, 'pk_')],
  ['behind what is no encoding', `%zz%${key.replace('k', '%6b')}%`],
])('a key in a path, %s, is not logged', (_, text) => {
  const path = withoutKeys(`/v1/sessions/${text}/messages`, '');
  expect(path).toMatch(/\[key\]|\[encoded\]/);
  expect(decodedWhole(path)).not.toContain('0aZ0aZ');
});

test('a path with a key is logged without control characters, so that its line stays JSON', () => {
  expect(withoutKeys(`/%9b31m%1b]%0a%20é%22${key}`, '')).toBe('/%9B31m%1B]%0A%20%E9"[key]');
});

test('the key of a request is hidden in any form', () => {
  expect(withoutKeys('/v1/%74oken-of-another/x', 'token-of-another')).toBe('/v1/[key]/x');
});

test.each(['/v1/sessions/ses_1', '/v1/sessions/%C3%A9%20x', '/v1/%zz/%', '/'])(
  '%s is logged unchanged',
  (path) => {
    expect(withoutKeys(path, 'k')).toBe(path);
  },
);

test('a long path of percent-encodings is logged quickly', () => {
  const path = `/%${'25'.repeat(8000)}70k_${'a'.repeat(33)}`;
  const start = processorMs();
  expect(withoutKeys(path, '')).toBe('[encoded]');
  expect(processorMs() - start).toBeLessThan(200);
});

test('a key is hidden anywhere in a line', () => {
  let lines = '';
  const log = serverLog((text) => {
    lines += text;
  }, Date.now);
  log.logger.error({ err: new Error(`upstream refused ${key} and ${key.toUpperCase()}`) });
  log.flush();
  expect(lines.match(/\[key\]/g)?.length).toBeGreaterThanOrEqual(2);
  expect(lines).not.toContain(key);
});

const forged = '\x1b]52;c;eA==\x07\x9b2J\u202e\u2028\u{e0041}\x7f';

test.each([
  ['JSON', undefined],
  ['text', textOfLogLine],
] as const)('a line of %s holds nothing that drives a terminal, and is one line', (_, format) => {
  let lines = '';
  const log = serverLog(
    (text) => {
      lines += text;
    },
    Date.now,
    format,
  );
  const request = { method: 'GET', path: `/${forged}`, status: 400, ms: 1, request_id: 'req_1' };
  log.logger.error({ ...request, reason: `\r\n${forged}`, err: new Error(forged) });
  log.flush();
  expect(lines.match(/\x1b\]52|\\u001b\]52/g)?.length).toBeGreaterThanOrEqual(3);
  expect(lines).toMatch(/^[^\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]+\n$/u);
  if (format === undefined) expect(JSON.parse(lines)).toMatchObject(request);
});

test('a path does not look like other fields of a line of text', () => {
  const path = '/v1\xa0200\xa01\xa0ms';
  const line = JSON.stringify({
    level: 'info',
    method: 'GET',
    path,
    status: 404,
    ms: 2,
    request_id: 'req_1',
  });
  expect(textOfLogLine(line)).toContain(`GET ${JSON.stringify(path)} 404`);
});

test.each([
  ['that has no other cause', [], ''],
  ['that was passed on', ['The mode fast got no reply: connect failed.'], ''],
  ['of which the message has the cause', ['connect failed'], ''],
  ['of which the message does not have the cause', ['EPIPE'], ' EPIPE'],
])('a failure %s stands once in a line of text', (_, causes, end) => {
  const messages = ['The mode fast got no reply: connect failed.', ...causes];
  const failure = messages.reduceRight<Error | undefined>(
    (cause, text) => new Error(text, { cause }),
    undefined,
  );
  let lines = '';
  const log = serverLog(
    (text) => {
      lines += text;
    },
    Date.now,
    textOfLogLine,
  );
  log.logger.error({ code: 'UNAVAILABLE', err: failure });
  log.flush();
  expect(lines).toMatch(
    new RegExp(` error The mode fast got no reply: connect failed\\. UNAVAILABLE${end}\n$`),
  );
});

test('the cause of a failure that quotes its message stands whole in a line of text', () => {
  const line = (message: string) => `${JSON.stringify({ level: 'error', msg: 'lost', err: { message } })}\n`;
  expect(textOfLogLine(line('lost: lost: reading lost: EIO'))).toMatch(/ lost "reading lost: EIO"\n$/);
});

function decodedWhole(text: string): string {
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return text;
}
