// Reads the standard input of a command to its end, without a time limit, and releases the stream. The stream is opened only for reading,
// because opening it takes time and may keep the process alive.
import { fstatSync } from 'node:fs';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { ByteSource } from './direct-stdin.ts';
import type { Output } from './output.ts';
import type { StartTimer } from './timer.ts';
import { Utf8Reader } from './utf8-reader.ts';

/** `device` is a terminal, /dev/null or another device. `closed` means that there is no stdin. */
export type StdinKind = 'pipe' | 'socket' | 'file' | 'device' | 'closed';

/** What a reading needs to say that nothing arrives, and to be stopped. */
export interface InputWait {
  readonly stderr: Pick<Output, 'write'>;
  readonly startTimer: StartTimer;
  /** Stops the reading. It then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

export interface StdinReading extends InputWait {
  readonly open: () => ByteSource;
  /** Words for the notice that appears when nothing arrives: what the command waits for (`a message`). */
  readonly awaited: string;
  /** Words for the same notice: how to skip the wait (`-n skips it`). */
  readonly skipHint: string;
}

const silenceMs = 2000;

export function stdinKind(fd = 0): StdinKind {
  try {
    const status = fstatSync(fd);
    if (status.isFIFO()) return 'pipe';
    if (status.isSocket()) return 'socket';
    // A directory is given by mistake. As a file it is read, which reports that.
    return status.isFile() || status.isDirectory() ? 'file' : 'device';
  } catch {
    return 'closed';
  }
}

/** The number of bytes if stdin is a file. Null if its end is unknown. */
export function stdinSize(fd = 0): number | null {
  try {
    const status = fstatSync(fd);
    return status.isFile() ? status.size : null;
  } catch {
    return null;
  }
}

/** True if stdin is read without an option: a pipe, a socket, a file. */
export function isFed(kind: StdinKind): boolean {
  return kind === 'pipe' || kind === 'socket' || kind === 'file';
}

/** Reads all of stdin as text, without a leading byte order mark. `limit` is in bytes. */
export async function readMessage(reading: StdinReading, limit: number): Promise<string> {
  let text = '';
  for await (const chunk of stdinText(reading, limit)) text += chunk;
  return text;
}

/** Yields the text in chunks as they arrive. A caller that stops early also releases the stream. */
export async function* stdinText(reading: StdinReading, limit: number | null): AsyncGenerator<string, void> {
  const reader = new Utf8Reader({ name: 'Standard input', limit });
  for await (const bytes of stdinBytes(reading)) yield reader.push(bytes);
  yield reader.end();
}

/** Yields the bytes as they arrive. A caller that stops early also releases the stream. */
export async function* stdinBytes({
  open,
  awaited,
  skipHint,
  ...waiting
}: StdinReading): AsyncGenerator<Uint8Array, void> {
  const { signal } = waiting;
  signal.throwIfAborted();
  const source = opened(open);
  const stop = () => source.destroy();
  signal.addEventListener('abort', stop);
  const stopTimer = announceSilence(
    waiting,
    `Waiting for ${awaited} on standard input (until end of file); ${skipHint}.`,
  );
  try {
    for await (const bytes of source) {
      stopTimer();
      yield bytes;
      // Otherwise Node would read a full pipe again and again before it handles signals.
      await yieldToEventLoop();
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  } finally {
    stopTimer();
    signal.removeEventListener('abort', stop);
    source.destroy();
  }
}

/** Writes the line after two seconds, unless the returned function is called before. */
export function announceSilence({ startTimer, stderr }: InputWait, line: string): () => void {
  return startTimer(silenceMs, () => void stderr.write(`${line}\n`));
}

function opened(open: StdinReading['open']): ByteSource {
  try {
    return open();
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause: unknown): ParleyError {
  return new ParleyError('USAGE', `Standard input cannot be read: ${reasonOf(cause)}.`, {
    hint: 'Give the command a pipe or a file to read from.',
    cause,
  });
}
