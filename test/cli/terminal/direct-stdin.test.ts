// Standard input without a stream: the content of a pipe is read at once, later bytes by the stream, and none is lost in between.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { directStdin } from '../../../src/cli/terminal/direct-stdin.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe.runIf(process.platform === 'linux')('a pipe', () => {
  let path = '';
  /** The end that is read, and one that is written; opened in an order in which neither waits for the other. */
  let pipe: { read: number; write: number };
  beforeEach(() => {
    path = join(temporaryDirectory(), 'pipe');
    spawnSync('mkfifo', [path]);
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    pipe = { read, write: openSync(path, 'w') };
  });
  afterEach(() => closeSync(pipe.read));

  const open = (openStream: () => Readable) => directStdin(pipe.read, 'linux', openStream);
  const noStream = (): Readable => {
    throw new Error('a stream was opened');
  };
  /** The number of descriptors of this process that are open on the pipe. */
  const openPipes = () => readdirSync('/proc/self/fd').filter((name) => linkOf(name) === path).length;

  test('whose writer has ended is read without a stream', async () => {
    writeSync(pipe.write, 'all of it');
    closeSync(pipe.write);
    const before = openPipes();
    const read = await readAll(open(noStream));
    expect(Buffer.concat(read).toString()).toBe('all of it');
    expect(openPipes()).toBe(before);
  });

  test('that is empty and has no writer is at its end', async () => {
    closeSync(pipe.write);
    expect(await readAll(open(noStream))).toEqual([]);
  });

  test('whose writer continues is read by the stream, from the next byte on', async () => {
    writeSync(pipe.write, 'now, ');
    const before = openPipes();
    const source = open(() => {
      // The second opening of the pipe has ended.
      expect(openPipes()).toBe(before);
      return Readable.from([Buffer.from('and '), Buffer.from('later')]);
    });
    const read = await readAll(source);
    expect(Buffer.concat(read).toString()).toBe('now, and later');
    closeSync(pipe.write);
  });

  test('that is full is read in chunks while it is refilled', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    writeSync(pipe.write, piece);
    let bytes = 0;
    let more = 3;
    for await (const chunk of open(noStream)) {
      bytes += chunk.length;
      if (more-- > 0) writeSync(pipe.write, piece);
      else if (more === -1) closeSync(pipe.write);
    }
    expect(bytes).toBe(4 * piece.length);
  });

  test('is closed by a reader that stops early, and by destroy', async () => {
    const before = openPipes();
    for (const stop of ['break', 'destroy']) {
      writeSync(pipe.write, 'first');
      const source = open(noStream);
      for await (const chunk of source) {
        expect(chunk.toString()).toBe('first');
        if (stop === 'break') break;
        source.destroy();
      }
      expect(openPipes()).toBe(before);
    }
    closeSync(pipe.write);
  });
});

async function readAll(source: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return chunks;
}

/** Null for the descriptor of the listing itself, which is closed by then. */
function linkOf(descriptor: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return null;
  }
}

test('a file, an invalid descriptor, and other systems than Linux use the stream', () => {
  const stream = Readable.from([]);
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, 'text');
  const file = openSync(path, 'r');
  expect(directStdin(file, 'linux', () => stream)).toBe(stream);
  closeSync(file);
  expect(directStdin(9999, 'linux', () => stream)).toBe(stream);
  expect(directStdin(0, 'darwin', () => stream)).toBe(stream);
});
