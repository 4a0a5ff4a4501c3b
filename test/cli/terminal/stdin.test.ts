// Reading stdin: the unchanged text, or an error with its place. Here with streams; processes.test.ts uses a process.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFed, readMessage, stdinBytes } from '../../../src/cli/terminal/stdin.ts';
import type { StartTimer } from '../../../src/cli/terminal/timer.ts';
import { runs } from '../../support/runs.ts';
import { cutAt, failure, never, ofBytes, ofText, reading } from './stdin-reading.ts';

const mebibyte = 1024 * 1024;

describe('a message on stdin', () => {
  test('is read unchanged, for any chunks', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((given) => !given.includes('\0'));
    const property = fc.asyncProperty(
      text,
      fc.array(fc.nat(200), { maxLength: 8 }),
      async (given, places) => {
        const read = await readMessage(ofBytes(...cutAt(Buffer.from(`x${given}`), places)), mebibyte);
        expect(read).toBe(`x${given}`);
      },
    );
    await fc.assert(property, { numRuns: runs(200, 5_000) });
  });

  test('keeps CR, and loses one leading byte order mark, even if it was cut', async () => {
    const bytes = Buffer.from('\ufeff\ufeffa\r\nb\r');
    const read = await readMessage(
      ofBytes(bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)),
      mebibyte,
    );
    expect(read).toBe('\ufeffa\r\nb\r');
  });

  test('may be empty', async () => {
    expect(await readMessage(ofBytes(), mebibyte)).toBe('');
  });

  test.each([
    ['a byte that is never UTF-8', [0x61, 0xff, 0x62], 1, '0xff'],
    ['a continuation without a beginning', [0x61, 0x62, 0x80], 2, '0x80'],
    ['a character that breaks off', [0xc3, 0xa9, 0xe2, 0x28, 0xa1], 2, '0xe2'],
    ['a character that the end cuts', [0x61, 0xf0, 0x9f, 0x98], 1, '0xf0'],
    ['an overlong form', [0x61, 0x61, 0xc0, 0x80], 2, '0xc0'],
    ['a surrogate', [0x61, 0xed, 0xa0, 0x80], 1, '0xed'],
    ['a code point past the last', [0xf4, 0x90, 0x80, 0x80], 0, '0xf4'],
    ['bad bytes after a byte order mark', [0xef, 0xbb, 0xbf, 0xe2, 0x82, 0xac, 0xfe], 6, '0xfe'],
  ])('with %s is refused with its offset, for any chunks', async (_, bytes, offset, byte) => {
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const error = await failure(
          readMessage(ofBytes(...cutAt(Uint8Array.from(bytes), [first, second])), mebibyte),
        );
        expect(error.code).toBe('INVALID_REQUEST');
        expect(error.message).toBe(
          `Standard input has the byte ${byte}, which is not UTF-8, at offset ${offset}.`,
        );
      }
    }
  });

  test('has its first bad byte found anywhere in a long text', async () => {
    const property = fc.asyncProperty(
      fc.nat(999),
      fc.array(fc.nat(4000), { maxLength: 4 }),
      async (before, places) => {
        const bytes = Buffer.concat([
          Buffer.from('€'.repeat(before)),
          Buffer.of(0xe2, 0x82),
          Buffer.from('abc'),
        ]);
        const error = await failure(readMessage(ofBytes(...cutAt(bytes, places)), mebibyte));
        expect(error.message).toContain(` at offset ${before * 3}.`);
      },
    );
    await fc.assert(property, { numRuns: runs(50, 1_000) });
  });

  test('with NUL is refused with its offset', async () => {
    const error = await failure(readMessage(ofBytes(Buffer.from('é€'), Buffer.from('a\0b')), mebibyte));
    expect(error.code).toBe('INVALID_REQUEST');
    expect(error.message).toBe('Standard input has a NUL byte at offset 6.');
  });

  test('in UTF-16 is refused at its first byte', async () => {
    const error = await failure(readMessage(ofBytes(Buffer.from('\ufeffhello', 'utf16le')), mebibyte));
    expect(error.message).toContain('0xff, which is not UTF-8, at offset 0');
    expect(error.hint).toContain('iconv');
  });

  test('of a PDF is refused with the program that extracts its text', async () => {
    const error = await failure(
      readMessage(ofBytes(Buffer.from('%PDF-1.7\n%\xe2\xe3\n', 'latin1')), mebibyte),
    );
    expect(error.hint).toContain('pdftotext');
  });

  test.each([-1, 0])(
    'of the limit %i bytes is read completely, without counting its byte order mark',
    async (difference) => {
      const text = 'x'.repeat(mebibyte + difference);
      expect((await readMessage(ofText(`\ufeff${text}`), mebibyte)).length).toBe(mebibyte + difference);
    },
  );

  test('of one byte over the limit is refused with the limit', async () => {
    const error = await failure(readMessage(ofText('x'.repeat(mebibyte + 1)), mebibyte));
    expect(error.code).toBe('PAYLOAD_TOO_LARGE');
    expect(error.message).toContain('more than 1048576 bytes');
  });

  test('that never ends is refused when it exceeds the limit, and its stream is closed', async () => {
    let given = 0;
    const endless = new Readable({
      read() {
        given += 1000;
        this.push(Buffer.alloc(1000, 'x'));
      },
    });
    const error = await failure(
      readMessage(
        reading(() => endless),
        100_000,
      ),
    );
    expect(error.code).toBe('PAYLOAD_TOO_LARGE');
    expect(endless.destroyed).toBe(true);
    expect(given).toBeLessThan(300_000);
  });

  test('that cannot be read is a usage error with the cause', async () => {
    const broken = new Readable({ read: () => broken.destroy(new Error('EIO: i/o error, read')) });
    const error = await failure(
      readMessage(
        reading(() => broken),
        mebibyte,
      ),
    );
    expect([error.code, error.message]).toEqual([
      'USAGE',
      'Standard input cannot be read: EIO: i/o error, read.',
    ]);
  });

  test('is given up with the reason of the signal', async () => {
    const controller = new AbortController();
    const silent = new Readable({ read() {} });
    const message = readMessage(
      reading(() => silent, never, controller.signal),
      mebibyte,
    );
    const stopped = expect(message).rejects.toThrow('stop now');
    controller.abort(new Error('stop now'));
    await stopped;
    expect(silent.destroyed).toBe(true);
  });

  test('is not opened after the signal has fired', async () => {
    const open = () => {
      throw new Error('opened');
    };
    const message = readMessage(reading(open, never, AbortSignal.abort(new Error('stop now'))), mebibyte);
    await expect(message).rejects.toThrow('stop now');
  });
});

describe('a silent stdin', () => {
  test('is reported on stderr after two seconds, with the option that skips it', async () => {
    const stream = new Readable({ read() {} });
    const timers: { milliseconds: number; action: () => void }[] = [];
    const startTimer: StartTimer = (milliseconds, action) => {
      timers.push({ milliseconds, action });
      return () => {};
    };
    const given = reading(() => stream, startTimer);
    const message = readMessage(given, mebibyte);
    expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([2000]);
    expect(given.notices).toEqual([]);
    timers[0]?.action();
    expect(given.notices).toEqual([
      'Waiting for a message on standard input (until end of file); -n skips it.\n',
    ]);
    stream.push('late');
    stream.push(null);
    expect(await message).toBe('late');
  });

  test('is not reported after the first byte', async () => {
    const stream = new Readable({ read() {} });
    let running = false;
    const startTimer: StartTimer = () => {
      running = true;
      return () => {
        running = false;
      };
    };
    const message = readMessage(
      reading(() => stream, startTimer),
      mebibyte,
    );
    expect(running).toBe(true);
    stream.push('first');
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(false);
    stream.push(null);
    expect(await message).toBe('first');
  });
});

test('a full pipe can be stopped between two chunks, whatever is done with them', async () => {
  const stop = new AbortController();
  const maxChunks = 1000;
  async function* full() {
    for (let count = 0; count < maxChunks; count++) yield Buffer.from('text');
  }
  const open = () => Readable.from(full());
  setImmediate(() => stop.abort(new Error('stopped')));
  let count = 0;
  const all = (async () => {
    for await (const _chunk of stdinBytes(reading(open, never, stop.signal))) count += 1;
  })();
  await expect(all).rejects.toThrow('stopped');
  expect(count).toBeLessThan(maxChunks);
});

test('a pipe, a socket and a file are read by default; a device and a closed stdin are not', () => {
  const kinds = ['pipe', 'socket', 'file', 'device', 'closed'] as const;
  expect(kinds.filter(isFed)).toEqual(['pipe', 'socket', 'file']);
});
