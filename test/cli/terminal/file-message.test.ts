// Files in a message: how they are read, and how they are fenced.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { fenceText, readFileMessage } from '../../../src/cli/terminal/file-message.ts';
import type { InputWait } from '../../../src/cli/terminal/stdin.ts';
import { runs } from '../../support/runs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The blocks of a Markdown text, as CommonMark 0.31 section 4.5 defines them. */
function blocks(markdown: string): readonly { readonly info: string; readonly content: string }[] {
  const found: { info: string; content: string }[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, fence = '', info = ''] = lines[at]?.match(/^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/su) ?? [];
    if (fence === '') continue;
    const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);
    const content: string[] = [];
    for (at++; at < lines.length && !closing.test(lines[at] ?? ''); at++) content.push(`${lines[at]}\n`);
    found.push({ info: info.trim(), content: content.join('') });
  }
  return found;
}

const directory = temporaryDirectory(afterAll);
const { signal } = new AbortController();
const stderr = { write: async () => {} };
const waiting = (signal: AbortSignal): InputWait => ({ signal, stderr, startTimer: () => () => {} });

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

describe('a fenced file', () => {
  test('is one block with the name and the text, whatever they contain', () => {
    const parts = fc.constantFrom('`', '```', '````', '~~~', '~', '\n', ' ', 'x', '\r', '#');
    const text = fc.array(parts, { maxLength: 20 }).map((given) => given.join(''));
    const name = fc.array(fc.constantFrom('a', '`', '~', '/', '\n', '.ts'), { minLength: 1, maxLength: 6 });
    const property = fc.property(text, name, (given, names) => {
      const content = given === '' || given.endsWith('\n') ? given : `${given}\n`;
      const info = names.join('').replaceAll('\n', ' ').trim();
      expect(blocks(fenceText(names.join(''), given))).toEqual([{ info, content }]);
    });
    fc.assert(property, { numRuns: runs(1_000, 25_000) });
  });

  test('has a fence longer than any inside', () => {
    expect(fenceText('notes.md', 'a\n```js\nb\n```\n')).toBe('````notes.md\na\n```js\nb\n```\n````');
    expect(fenceText('plain.txt', 'a')).toBe('```plain.txt\na\n```');
  });
});

describe('a file for a message', () => {
  test('is read unchanged, without a byte order mark', async () => {
    const path = await file('crlf.txt', '\ufeffa\r\nb é\n');
    expect(await readFileMessage(path, 100, waiting(signal))).toBe(`\`\`\`${path}\na\r\nb é\n\`\`\``);
  });

  test.each([
    [
      'bytes that are not UTF-8',
      Buffer.of(0x61, 0xff),
      'INVALID_REQUEST',
      '0xff, which is not UTF-8, at offset 1.',
    ],
    [
      'a character cut by its end',
      Buffer.of(0x61, 0xc3),
      'INVALID_REQUEST',
      '0xc3, which is not UTF-8, at offset 1.',
    ],
    ['NUL', Buffer.from('ab\0'), 'INVALID_REQUEST', 'a NUL byte at offset 2.'],
    ['more than the limit', Buffer.alloc(101, 'x'), 'PAYLOAD_TOO_LARGE', 'more than 100 bytes'],
  ])('with %s is refused with its name', async (_, content, code, message) => {
    const path = await file('bad', content);
    const reading = readFileMessage(path, 100, waiting(signal));
    await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    await expect(reading).rejects.toThrow(`The file ${path} `);
  });

  test('that is missing, or is a directory, is a usage error that says so', async () => {
    const missing = join(directory, 'missing');
    const below = join(await file('plain', ''), 'below');
    for (const [path, reason] of [
      [missing, 'there is no such file'],
      [directory, 'it is a directory'],
      [below, 'a part of its path is not a directory'],
    ] as const) {
      const message = `The file ${path} cannot be read: ${reason}.`;
      await expect(readFileMessage(path, 100, waiting(signal))).rejects.toMatchObject({
        code: 'USAGE',
        message,
      });
    }
  });

  test('is given up with the reason of the signal', async () => {
    const path = await file('any', 'text');
    const reading = readFileMessage(path, 100, waiting(AbortSignal.abort(new Error('stop now'))));
    await expect(reading).rejects.toThrow('stop now');
  });

  // The kernel lets only root read its messages, and keeps those that were read.
  const kernelMessages = '/proc/kmsg';
  test.skipIf(!isReadable(kernelMessages))('of the kernel is not waited for', async () => {
    const reading = readFileMessage(kernelMessages, 100_000_000, waiting(AbortSignal.timeout(5000)));
    await expect(reading).rejects.toThrow(`The file ${kernelMessages} cannot be read: EAGAIN`);
  });

  describe('may be a pipe, which', () => {
    function pipe(name: string): string {
      const path = join(directory, name);
      execFileSync('mkfifo', [path]);
      return path;
    }

    test('is read from its first writer to its end, whatever its length', async () => {
      const path = pipe('written');
      const reading = readFileMessage(path, 1_000_000, waiting(signal));
      const writing = promisify(execFile)('sh', ['-c', 'sleep 0.2; yes | head -c 300000 > "$1"', 'sh', path]);
      expect(await reading).toBe(`\`\`\`${path}\n${'y\n'.repeat(150_000)}\`\`\``);
      await writing;
    });

    test('is announced after two seconds without its first bytes, unless there were some', async () => {
      const notices: string[] = [];
      const timers: { readonly after: number; readonly fire: () => void; isStopped: boolean }[] = [];
      const stop = new AbortController();
      const all: InputWait = {
        signal: stop.signal,
        stderr: { write: async (text) => void notices.push(`${text}`) },
        startTimer: (after, fire) => {
          const timer = { after, fire, isStopped: false };
          timers.push(timer);
          return () => {
            timer.isStopped = true;
          };
        },
      };
      const path = pipe('awaited');
      const reading = readFileMessage(path, 100, all);
      expect(timers).toMatchObject([{ after: 2000, isStopped: false }]);
      timers[0]?.fire();
      expect(notices).toEqual([`Waiting for the text of ${path} (until end of file).\n`]);
      stop.abort(new Error('stop now'));
      await expect(reading).rejects.toThrow('stop now');
      await readFileMessage(await file('there', 'text'), 100, { ...all, signal });
      expect(timers.map(({ isStopped }) => isStopped)).toEqual([true, true]);
    });

    test.each([
      ['nobody writes', 'true'],
      ['a writer keeps silent', 'exec 5> "$1"; printf half >&5; exec sleep 60'],
    ])('is given up with the reason of the signal when %s', async (name, script) => {
      const path = pipe(name);
      const writer = spawn('sh', ['-c', script, 'sh', path], { stdio: 'ignore' });
      const stop = new AbortController();
      const reading = readFileMessage(path, 100, waiting(stop.signal));
      setTimeout(() => stop.abort(new Error('stop now')), 300);
      await expect(reading).rejects.toThrow('stop now');
      writer.kill();
    });
  });
});

function isReadable(path: string): boolean {
  try {
    closeSync(openSync(path, 'r'));
    return true;
  } catch {
    return false;
  }
}
