// Text passes through the whole program unchanged, from every source; invalid text is refused with its place.
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page, Session } from '../../src/service/session.ts';
import { expectFailure, expectJsonFailure, expectNoStackTrace } from '../support/failures.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { serve } from '../support/scripted-server.ts';
import { testCertificate } from '../support/test-certificate.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

const echo = ['chat', '--mode', 'echo'];
const mebibyte = 1024 * 1024;

async function expectNothingKept(): Promise<void> {
  expect((await place.answer<Page<Session>>(['sessions', 'list'])).items).toEqual([]);
}

describe('invalid text', () => {
  test.each([
    ['a NUL', Buffer.from('ab\0c'), 'a NUL byte at offset 2'],
    ['a lone continuation byte', Buffer.from([0x61, 0x80]), '0x80, which is not UTF-8, at offset 1'],
    ['a character cut off by the end', Buffer.from([0x61, 0x62, 0xf0, 0x9f]), 'offset 2'],
    ['Latin-1', Buffer.from('Müller', 'latin1'), '0xfc, which is not UTF-8, at offset 1'],
    ['UTF-16 with its mark', Buffer.from('\ufeffhi', 'utf16le'), 'offset 0'],
    ['a surrogate in UTF-8', Buffer.from([0x61, 0xed, 0xa0, 0x80]), 'offset 1'],
    ['a bad byte far in', Buffer.concat([Buffer.alloc(300_000, 'é'), Buffer.from([0xff])]), 'offset 300000'],
  ])('%s is refused with its offset', async (_name, stdin, problem) => {
    const outcome = await place.parley(echo, { stdin });
    expectFailure(outcome, { status: 2, code: 'INVALID_REQUEST' });
    expect(outcome.err).toContain(problem);
    writeFileSync(join(place.path, 'bad'), stdin);
    const file = await place.parley([...echo, '-n', '-f', 'bad', '--json']);
    expect(expectJsonFailure(file, { status: 2, code: 'INVALID_REQUEST' }).message).toContain(problem);
  });

  test.runIf(process.platform === 'linux').each([
    [
      'a message',
      "parley chat -n -m echo $'caf\\xe9'",
      'Argument 5 has the byte 0xe9, which is not UTF-8, at offset 3.',
    ],
    ['a later word of one', "parley chat -n -m echo café '' $'\\xf0\\x9f'", 'Argument 7 has the byte 0xf0'],
    [
      'a word after a true U+FFFD',
      "parley chat -n -m echo \ufffd $'\\xed\\xa0\\x80'",
      'Argument 6 has the byte 0xed',
    ],
    ['the value of an option', "parley sessions create --title=$'\\xff'", 'Argument 3 has the byte 0xff'],
    ['what makes a chat without its name', "printf hi | parley -m $'\\xe9'", 'Argument 2 has the byte 0xe9'],
  ])('%s is refused as an argument, with its place', async (_name, script, problem) => {
    const outcome = await place.shell(script);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
    expect(outcome.err).toContain(problem);
    expect(outcome.err).toContain('--file');
    const json = await place.shell(`${script} --json`);
    expect(expectJsonFailure(json, { status: 2, code: 'USAGE' }).message).toContain(problem);
  });

  test('is not stored', expectNothingKept);

  test('a U+FFFD of the user is accepted', async () => {
    const args = '-n -m echo "\ufffd" "" "caf\u00e9"';
    const { out, status } = await place.shell(`parley chat ${args}`);
    expect({ out, status }).toEqual({ out: '\ufffd  caf\u00e9\n', status: 0 });
  });
});

describe('the limit of a message, 1 MiB', () => {
  test.each([-1, 0])('accepts %i bytes more', async (more) => {
    const text = `${'é'.repeat(mebibyte / 2 - 1)}ab`.slice(0, mebibyte / 2 + 1 + more);
    expect(Buffer.byteLength(text)).toBe(mebibyte + more);
    const { bytes, status } = await place.parley([...echo, '--quiet'], { stdin: text });
    expect(status).toBe(0);
    expect(bytes.equals(Buffer.from(`${text}\n`))).toBe(true);
  });

  test.each([
    ['stdin', [], 'x'.repeat(mebibyte + 1)],
    ['words and stdin together', ['abc'], 'x'.repeat(mebibyte - 4)],
  ])('refuses one byte more of %s, and nothing is stored', async (_name, words, stdin) => {
    const { items } = await place.answer<Page<Session>>(['sessions', 'list']);
    const outcome = await place.parley([...echo, ...words], { stdin });
    expectFailure(outcome, { status: 2, code: 'PAYLOAD_TOO_LARGE' });
    expect(outcome.err).toContain('1048576');
    expect((await place.answer<Page<Session>>(['sessions', 'list'])).items).toEqual(items);
  });

  test('a byte order mark does not count', async () => {
    const text = 'x'.repeat(mebibyte);
    expect((await place.output(echo, { stdin: `\ufeff${text}` })).length).toBe(mebibyte + 1);
  });
});

describe('text comes back byte for byte', () => {
  test.each([
    ['CRLF and lone CR', 'a\r\nb\rc\n'],
    ['a line end more', 'a\n\n'],
    ['a byte order mark within', 'a\ufeffb'],
    ['emoji, joined and flagged', '👩‍👩‍👧‍👦 🇨🇭 e\u0301'],
    ['control characters', '\u001b[31mred\u0007\u0008\u009b\u202e'],
    ['space at both ends', '  a \t'],
    ['a noncharacter and the last plane', '\ufffe\u{10ffff}'],
  ])('%s', async (_name, text) => {
    const expected = text.endsWith('\n') ? text : `${text}\n`;
    const [piped, word, body] = await Promise.all([
      place.output(echo, { stdin: text }),
      place.output([...echo, '-n', text]),
      place.answer<{ reply: string; session_id: string }>(echo, { stdin: text }),
    ]);
    expect([piped, word, body.reply]).toEqual([expected, expected, text]);
    const { out } = await place.parley(['sessions', 'messages', body.session_id]);
    expect(out).toContain(`\n\n${expected}\n## assistant`);
  });

  test('a leading byte order mark is dropped', async () => {
    expect(await place.output(echo, { stdin: '\ufeffa' })).toBe('a\n');
  });

  test('characters survive any cut of the stream', async () => {
    // This is more than a socket holds, so when it is written, the reader reads, and each later byte arrives alone.
    const start = 'x'.repeat(700_000);
    const text = 'é€😀\u{10ffff}👩‍👧!';
    const stdin = [Buffer.from(start), ...Array.from(Buffer.from(text), (byte) => Buffer.of(byte))];
    expect((await place.binary(echo, { stdin })).out).toBe(`${start}${text}\n`);
  });
});

describe('words, files and stdin', () => {
  test('go together in this order, with a blank line between', async () => {
    writeFileSync(join(place.path, 'a.txt'), 'one\r\n');
    writeFileSync(join(place.path, 'b.md'), '```\ncode\n```');
    const out = await place.output([...echo, 'two', 'words', '-f', 'a.txt', '--file', 'b.md'], {
      stdin: 'piped\n',
    });
    expect(out).toBe('two words\n\n```a.txt\none\r\n```\n\n````b.md\n```\ncode\n```\n````\n\npiped\n');
  });

  test('a file alone is a message, also through a pipe of the shell', async () => {
    expect(await place.output([...echo, '-f', 'a.txt'])).toBe('```a.txt\none\r\n```\n');
    const { out } = await place.shell(`parley chat -m echo -f <(printf hi) | tail -n +2`);
    expect(out).toBe('hi\n```\n');
  });

  test.concurrent.each([
    ['chat', '-n -m echo -f'],
    ['sessions import', ''],
    ['modes add m', '--base-url http://127.0.0.1:1/v1 --model m --system-file'],
    ['serve', '--port 0 --modes'],
    ['models --url https://api.example', '--ca'],
  ])('%s stops while it waits for a pipe without a writer', async (command, flags) => {
    const words = `${command} ${flags} pipe-${command.length}`;
    const script = `set -m; mkfifo pipe-${command.length}; parley ${words} & sleep 0.7; kill -INT $!; wait $!; echo $?`;
    const { out } = await place.shell(script, { PARLEY_API_KEY: 'k' });
    expect(out).toBe('130\n');
  });

  test('a file of certificates that cannot be used is refused before the message is stored', async () => {
    const outcome = await place.parley([...echo, '--ca', 'missing.pem', 'kept nowhere']);
    expectFailure(outcome, { status: 2, code: 'CONFIG' });
    expect(outcome.err).toContain('missing.pem cannot be read (ENOENT)');
    expect(await place.output(['sessions', 'search', 'nowhere', '--json', '--jq', '.data.items'])).toBe(
      '[]\n',
    );
  });

  test('a server does not start with a file of certificates that cannot be used', async () => {
    const outcome = await place.shell('timeout 10 parley serve --port 0 --ca missing.pem');
    expectFailure(outcome, { status: 2, code: 'CONFIG' });
    expect(outcome.err).toContain('missing.pem cannot be read (ENOENT)');
  });

  test('a file of certificates may be a pipe', async () => {
    const model = (_request: unknown, response: ServerResponse) => sendStream(response, replyOf('trusted'));
    const server = await serve(model, testCertificate);
    writeFileSync(join(place.path, 'ca.pem'), testCertificate.cert);
    await place.output(['modes', 'add', 'tls', '--base-url', server.url, '--model', 'm']);
    const outcome = await place.shell('parley chat -n -m tls --ca <(cat ca.pem) hello');
    expect(outcome).toMatchObject({ status: 0, out: 'trusted\n' });
    // Node warns of eleven listeners for one signal.
    for (let mode = 1; mode <= 11; mode += 1)
      await place.output([
        'modes',
        'add',
        `tls-${mode}`,
        '--base-url',
        `${server.url}/${mode}`,
        '--model',
        'm',
      ]);
    const checked = await place.shell('parley doctor --online --ca <(cat ca.pem)');
    await server.close();
    expect(checked).toMatchObject({ status: 0, out: expect.stringContaining('(tls-11)'), err: '' });
  });

  test('files that are too long together are refused before the next one is opened', async () => {
    const script = `head -c 700000 /dev/zero | tr '\\0' x > long.txt; parley chat -n -m echo -f long.txt -f long.txt -f missing.txt`;
    expectFailure(await place.shell(script), { status: 2, code: 'PAYLOAD_TOO_LARGE' });
  });

  test('- alone is stdin, and all after -- is words', async () => {
    expect(await place.output([...echo, '-'], { stdin: 'piped' })).toBe('piped\n');
    expect(await place.output([...echo, '-n', '--', '--json', '-c'])).toBe('--json -c\n');
  });

  test('- also reads a stdin that is not read by default', async () => {
    expectFailure(await place.parley([...echo, '-']), { status: 2, code: 'USAGE' });
  });

  test('a file, a pipe and a socket are read; a device, a closed stdin and one with -n are not', async () => {
    writeFileSync(join(place.path, 'in'), 'fed');
    const run = async (script: string) => (await place.shell(script)).out;
    const [file, pipe, fifo, device, closed, left, variable] = await Promise.all([
      run('parley chat -m echo w < in'),
      run('cat in | parley chat -m echo w'),
      run('mkfifo f; cat in > f & parley chat -m echo w < f'),
      run('parley chat -m echo w < /dev/null'),
      run('parley chat -m echo w <&-'),
      run('parley chat -n -m echo w < in'),
      run('PARLEY_NO_STDIN=1 parley chat -m echo w < in'),
    ]);
    expect([file, pipe, fifo]).toEqual(['w\n\nfed\n', 'w\n\nfed\n', 'w\n\nfed\n']);
    expect([device, closed, left, variable]).toEqual(['w\n', 'w\n', 'w\n', 'w\n']);
    expect(await place.output([...echo, 'w'], { stdin: 'fed' })).toBe('w\n\nfed\n');
  });

  test.each([
    ['-n', [...echo, '-n'], {}],
    ['PARLEY_NO_STDIN=1', echo, { PARLEY_NO_STDIN: '1' }],
  ])(
    'a message that waits on a stdin which %s leaves alone is missing, and the reason is named',
    async (_, args, env) => {
      const outcome = await place.parley(args, { stdin: 'fed', env });
      expectFailure(outcome, { status: 2, code: 'USAGE' });
      expect(outcome.err).toBe(
        'parley: There is no message to send. (USAGE)\n' +
          'Standard input is not read because of -n, or of PARLEY_NO_STDIN=1 in the environment.\n',
      );
      const dash = await place.parley([...args, '-'], { stdin: 'fed', env });
      expect(dash.err).toMatch(
        /^parley: - and -n \(or PARLEY_NO_STDIN\) cannot be used together\. \(USAGE\)\n/,
      );
      const empty = await place.parley([...args, ''], { stdin: 'fed', env });
      expect(empty.err).toContain('\nPass one, as in parley chat "Hello"');
    },
  );

  test('an empty stdin adds nothing', async () => {
    expect(await place.output([...echo, 'w'], { stdin: '' })).toBe('w\n');
  });

  test('a loop that reads lines keeps them all with -n', async () => {
    const { out, err } = await place.shell(
      `printf '%s\\n' one two three | while read -r line; do parley chat -n -m echo "$line"; done`,
    );
    expect({ out, err }).toEqual({ out: 'one\ntwo\nthree\n', err: '' });
  });
});

test.concurrent.each([
  ['chat', [...echo, 'w'], /^Waiting for a message on standard input.*-n/, 'late', 'w\n\nlate\n'],
  [
    'sessions delete',
    ['sessions', 'delete'],
    /^Waiting for session ids on standard input/,
    'ses_x\n',
    'not_found ses_x\n',
  ],
])('%s says what it waits for, and reads it when it arrives', async (_name, args, notice, late, expected) => {
  const child = place.start(args);
  const outcome = outcomeOf(child);
  const line = await new Promise<string>((resolve) => {
    child.stderr.once('data', (bytes: Buffer) => resolve(bytes.toString()));
  });
  expect(line).toMatch(notice);
  child.stdin.end(late);
  const { out, err } = await outcome;
  expect(out).toBe(expected);
  expectNoStackTrace(err);
});
