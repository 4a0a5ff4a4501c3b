// Standard input as a command reads it: whether it is to be read at all, then to its end, never by a timer, and let go.
// The stream is opened only when it is read: opening it costs time and may keep the process alive.
import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ParleyError } from '../../service/errors.ts';
import type { Output } from './output.ts';
import type { StartTimer } from './timer.ts';
import { Utf8Reader } from './utf8-reader.ts';

/** `device` is a terminal, /dev/null or another; `closed` is none at all. */
export type StdinKind = 'pipe' | 'socket' | 'file' | 'device' | 'closed';

export interface StdinReading {
  /** Gives the stream, of bytes. */
  readonly open: () => Readable;
  /** What the line says that appears when nothing comes: what is awaited (`a message`), and the way out (`-n skips it`). */
  readonly awaited: string;
  readonly otherwise: string;
  readonly stderr: Pick<Output, 'write'>;
  readonly startTimer: StartTimer;
  /** Stops the reading, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

const silenceMs = 2000;

export function stdinKind(fd = 0): StdinKind {
  try {
    const status = fstatSync(fd);
    if (status.isFIFO()) return 'pipe';
    if (status.isSocket()) return 'socket';
    return status.isFile() ? 'file' : 'device';
  } catch {
    return 'closed';
  }
}

/** Bytes of what stdin is, where that is a file; null where its end is not known. */
export function stdinSize(fd = 0): number | null {
  try {
    const status = fstatSync(fd);
    return status.isFile() ? status.size : null;
  } catch {
    return null;
  }
}

/** True for what is read without being asked for: a pipe, a socket, a file. */
export function isFed(kind: StdinKind): boolean {
  return kind === 'pipe' || kind === 'socket' || kind === 'file';
}

/** All of stdin as text, unchanged but for a leading byte order mark. `limit` in bytes. */
export async function readMessage(reading: StdinReading, limit: number): Promise<string> {
  let text = '';
  for await (const chunk of stdinText(reading, limit)) text += chunk;
  return text;
}

/** The same, chunk by chunk as it comes. Whoever stops early lets the stream go as well. */
export async function* stdinText(reading: StdinReading, limit: number | null): AsyncGenerator<string, void> {
  const reader = new Utf8Reader({ name: 'Standard input', limit });
  for await (const bytes of stdinBytes(reading)) yield reader.push(bytes);
  yield reader.end();
}

/** The bytes as they come. Whoever stops early lets the stream go as well. */
export async function* stdinBytes({
  open,
  awaited,
  otherwise,
  stderr,
  startTimer,
  signal,
}: StdinReading): AsyncGenerator<Uint8Array, void> {
  signal.throwIfAborted();
  const stream = open();
  const stop = () => stream.destroy();
  signal.addEventListener('abort', stop);
  const stopTimer = startTimer(silenceMs, () => {
    void stderr.write(`Waiting for ${awaited} on standard input, to its end; ${otherwise}.\n`);
  });
  try {
    for await (const bytes of stream) {
      stopTimer();
      yield bytes;
    }
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(error);
  } finally {
    stopTimer();
    signal.removeEventListener('abort', stop);
    stream.destroy();
  }
}

function unreadable(cause: unknown): ParleyError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('USAGE', `Standard input cannot be read: ${reason}.`, {
    hint: 'Give the command a pipe or a file to read from.',
    cause,
  });
}
