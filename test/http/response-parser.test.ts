// The syntax of HTTP/1.1 responses, for any chunks; and invalid responses.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseParser, ResponseSyntaxError } from '../../src/http/response-parser.ts';

interface ReadAnswer {
  readonly heads: readonly (readonly [number, Readonly<Record<string, string>>])[];
  readonly body: string;
  readonly isComplete: boolean;
  readonly isPersistent: boolean;
  readonly taken: number;
}

/** `ends`: the connection is at its end, too. */
function read(text: string, { cuts = [] as readonly number[], ends = false } = {}): ReadAnswer {
  const bytes = Buffer.from(text, 'latin1');
  const heads: [number, Record<string, string>][] = [];
  let body = '';
  const reader = new ResponseParser({
    head: (status, headers) => heads.push([status, { ...headers }]),
    data: (piece) => {
      body += Buffer.from(piece).toString('latin1');
    },
  });
  let taken = 0;
  const places = [...cuts, 0, bytes.length].filter((cut) => cut <= bytes.length).sort((a, b) => a - b);
  for (const [index, place] of places.slice(1).entries()) {
    taken += reader.take(bytes.subarray(places[index], place));
  }
  if (ends) reader.finish();
  return { heads, body, isComplete: reader.isComplete, isPersistent: reader.isPersistent, taken };
}

const chunked = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ntransfer-encoding: chunked\r\n\r\n';
const keepAliveHead = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length:';

describe('an answer', () => {
  it('is the same for any chunks', () => {
    const answers = [
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello',
      `${chunked}5;name="a;b"\r\nhello\r\n00A\r\n to\r\nevery\r\n0\r\n\r\n`,
      `${chunked}2\r\nhi\r\n0\r\nDigest: x\r\nOther: y\r\n\r\n`,
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.0 200 OK\n\nall that comes',
    ];
    const pieces = fc.array(fc.nat(200), { maxLength: 20 });
    fc.assert(
      fc.property(fc.constantFrom(...answers), pieces, (text, cuts) => {
        expect(read(text, { cuts })).toEqual(read(text));
      }),
    );
  });

  it.each<[string, string, Partial<ReadAnswer>]>([
    ['of a length', `${keepAliveHead} 2\r\n\r\nhi`, { body: 'hi', isPersistent: true }],
    ['of no length', `${keepAliveHead} 0\r\n\r\n`, { body: '', isPersistent: true }],
    [
      'that says nothing of its connection',
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      { isPersistent: false },
    ],
    ['in chunks', `${chunked}2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n`, { body: 'hi!', isPersistent: true }],
    ['in large letters', 'HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n0\r\n\r\n', { body: '' }],
    ['204', 'HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n', { body: '', isPersistent: true }],
    ['304 with a length', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n', { body: '' }],
    ['without a reason', 'HTTP/1.1 200\r\nkeep-alive: \r\ncontent-length: 0\r\n\r\n', { isPersistent: true }],
    [
      'of HTTP/1.0',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n',
      { isPersistent: false },
    ],
    [
      'that is the last',
      'HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 0\r\n\r\n',
      { isPersistent: false },
    ],
  ])('%s ends where it says', (_kind, text, expected) => {
    expect(read(text)).toMatchObject({ ...expected, isComplete: true, taken: text.length });
    expect(read(`${text}HTTP/1.1`)).toMatchObject({ ...expected, isComplete: true, taken: text.length });
    expect(read(text.slice(0, -1), { ends: true }).isComplete).toBe(false);
  });

  it('without a length ends with the connection, which is not kept', () => {
    const text = 'HTTP/1.1 200 OK\r\n\r\nall that comes';
    expect(read(text)).toMatchObject({ isComplete: false, body: 'all that comes' });
    expect(read(text, { ends: true })).toMatchObject({ isComplete: true, isPersistent: false });
  });

  it('has its headers in lower case, each once, without surrounding spaces', () => {
    const head =
      'HTTP/1.1 200 OK\r\nSet-Cookie:a=1\r\nX-Empty:\r\nset-cookie: \tb=2 \t\r\n__proto__: x\r\nX-E: caf\xe9\r\n';
    const { heads } = read(`${head}Content-Length: 0\r\n\r\n`);
    expect(heads).toHaveLength(1);
    expect(heads[0]?.[0]).toBe(200);
    expect(Object.entries(heads[0]?.[1] ?? {})).toEqual([
      ['set-cookie', 'a=1, b=2'],
      ['x-empty', ''],
      ['__proto__', 'x'],
      ['x-e', 'caf\xe9'],
      ['content-length', '0'],
    ]);
  });
});

describe('an invalid or ambiguous response is refused:', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  it.each([
    ['another protocol', '220 mail.example ESMTP'],
    ['another version', 'HTTP/2 200\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n'],
    ['two lengths', `${head}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
    ['a length beside chunks', `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a length below zero', `${head}content-length: -5\r\n\r\n`],
    ['a length beyond counting', `${head}content-length: 9999999999999999\r\n\r\n`],
    ['an empty length', `${head}content-length:\r\n\r\n`],
    ['a coding that is not asked for', `${head}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['a line that is no header', `${head}hello\r\n`],
    ['a space before the colon', `${head}content-length : 5\r\n`],
    ['a folded header', `${head}x: a\r\n b\r\n`],
    ['a header without a name', `${head}: a\r\n`],
    ['a NUL', `${head}x: a\0b\r\n`],
    ['a carriage return within a line', `${head}x: a\rb\r\n`],
    ['a size that is no number', `${chunked}x\r\n`],
    ['a size below zero', `${chunked}-1\r\n`],
    ['a size beyond counting', `${chunked}fffffffffffff\r\n`],
    ['a chunk longer than its size', `${chunked}2\r\nhi!\r\n`],
    ['a head without end', `${head}${'x: y\r\n'.repeat(5000)}`],
    ['a line without end', `${head}x: ${'y'.repeat(20_000)}`],
    ['a size without end', `${chunked}1;${'y'.repeat(20_000)}`],
    ['trailers without end', `${chunked}0\r\n${'x: y\r\n'.repeat(5000)}`],
  ])('%s', (_what, text) => {
    expect(() => read(text)).toThrow(ResponseSyntaxError);
  });
});
