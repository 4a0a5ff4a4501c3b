// Replies cut in the middle, through the real program: by a signal, or by a reader that leaves.

import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endOf, type Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { RawDatabase } from '../support/raw-database.ts';
import { type StoredMessage, storedMessages, storeFaults } from '../support/stored-turns.ts';

/** More bytes than an unread pipe and the buffers of both programs hold. */
const message = 'word '.repeat(60_000);
let place: Place;
beforeAll(async () => {
  place = new PlaceInProcess();
  await place.output(['verify']);
});
afterAll(() => place.remove());

interface Held {
  readonly child: ChildProcess;
  readonly session: string;
}

/** A chat whose reply has begun and cannot end, because its reader reads only the beginning. */
async function heldInReply(words: readonly string[]): Promise<Held> {
  const session = await place.newSession();
  const child = place.spawn(['chat', '--mode', 'echo', '-s', session, ...words], { stdin: message });
  child.stderr?.resume();
  await new Promise((resolve) => child.stdout?.once('readable', resolve));
  return { child, session };
}

/** Ends a process that does not end by itself, so that the test fails instead of hanging. */
async function endingSoon(child: ChildProcess) {
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  const end = await endOf(child);
  clearTimeout(timer);
  return end;
}

function messagesOf(session: string): readonly StoredMessage[] {
  return storedMessages(place).filter(({ session_id }) => session_id === session);
}

const streamed = [['as text', []] as const, ['as events', ['--json-stream']] as const];
const whole = [['in one piece', ['--no-stream']] as const, ['as one body', ['--json']] as const];
const signals = [['SIGINT', 130] as const, ['SIGTERM', 143] as const, ['SIGHUP', 129] as const];

describe.each(streamed)('a reply streamed %s', (_form, words) => {
  test.each(signals)('that %s cuts is stored as far as it came, exit %i', async (signal, status) => {
    const { child, session } = await heldInReply(words);
    child.kill(signal);
    expect(await endingSoon(child)).toEqual({ status, signal: null });
    expect(messagesOf(session)).toMatchObject([
      { role: 'user', content: message },
      { role: 'assistant', finish_reason: 'interrupted' },
    ]);
    expect(messagesOf(session)[1]?.content).not.toBe('');
    expect(storeFaults(place)).toEqual([]);
  });

  test('whose reader goes away is stored as far as it came, exit 0', async () => {
    const { child, session } = await heldInReply(words);
    child.stdout?.destroy();
    expect(await endingSoon(child)).toEqual({ status: 0, signal: null });
    expect(messagesOf(session)[1]).toMatchObject({ finish_reason: 'interrupted' });
    expect(storeFaults(place)).toEqual([]);
  });
});

describe.each(whole)('a reply written %s', (_form, words) => {
  test.each(signals)('that %s stops while it is written is stored whole, exit %i', async (signal, status) => {
    const { child, session } = await heldInReply(words);
    child.kill(signal);
    expect(await endingSoon(child)).toEqual({ status, signal: null });
    expect(messagesOf(session)[1]).toMatchObject({ content: message, finish_reason: 'stop' });
  });
});

test('the session of a cut reply continues, with the cut reply in its place', async () => {
  const { child, session } = await heldInReply([]);
  child.kill('SIGINT');
  await endingSoon(child);
  expect(await place.output(['chat', '-n', '--mode', 'echo', '-s', session, 'next'])).toBe('next\n');
  expect(messagesOf(session).map(({ finish_reason }) => finish_reason)).toEqual([
    null,
    'interrupted',
    null,
    'stop',
  ]);
  expect(storeFaults(place)).toEqual([]);
});

test('one signal is enough, also at the first use: the reply is stored even if the store is locked for a while', async () => {
  const fresh = new PlaceInProcess();
  const child = fresh.spawn(['chat', '--mode', 'echo'], { stdin: message });
  child.stderr?.resume();
  await new Promise((resolve) => child.stdout?.once('readable', resolve));
  const other = new RawDatabase(fresh.storeFile);
  other.exec('BEGIN IMMEDIATE');
  child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 300));
  other.exec('ROLLBACK');
  other.close();
  expect(await endingSoon(child)).toEqual({ status: 130, signal: null });
  expect(storedMessages(fresh)[1]).toMatchObject({ role: 'assistant', finish_reason: 'interrupted' });
  fresh.remove();
});

test('an export whose reader has stopped ends at a signal', async () => {
  const session = await place.newSession();
  await place.output(['chat', '--mode', 'echo', '-s', session], { stdin: message });
  const child = place.spawn(['sessions', 'messages', session]);
  child.stderr?.resume();
  await new Promise((resolve) => child.stdout?.once('readable', resolve));
  child.kill('SIGINT');
  expect(await endingSoon(child)).toEqual({ status: 130, signal: null });
});
