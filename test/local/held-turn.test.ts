// A turn that is held longer than its lease: nobody else gets it while it is held.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { HeldTurn } from '../../src/local/held-turn.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newProject, turnStart } from '../store/store-samples.ts';
import { storeOptions } from '../support/store-options.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestStore } from '../support/test-store.ts';

it('a turn is renewed while it is held, and is free one lease after its release', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const ms = 600;
  const begun = await store.beginTurn(project, turnStart({ lease: { owner: 'owner-1', ms } }));
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const { session_id } = begun.turn;
  const held = new HeldTurn(store, project, begun.turn, {
    leaseMs: ms,
    caller: new AbortController().signal,
    replySoFar: () => ({ text: '', mode: 'echo', message_id: 'part', now: 0 }),
  });
  await delay(ms * 2);
  expect(held.signal.aborted).toBe(false);
  expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
  held.release();
  await delay(ms + 50);
  expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'begun' });
});

it('the new text of a reply is stored every 1.5 s, again if that failed, and not of a shorter reply', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stored: string[] = [];
  let text = '';
  let fails = false;
  const renewTurn: SessionStore['renewTurn'] = async (_project, _turn, _ms, part = null) => {
    if (part === null) return true;
    if (fails) throw new Error('the disk is full');
    stored.push(`${part.at} ${part.content}`);
    return true;
  };
  const turn = {
    ...{ session_id: 'ses', message_id: 'msg', position: 0, content: 'Hi', mode: 'echo' },
    ...{ owner: 'owner-1', epoch: 1 },
  };
  const held = new HeldTurn({ renewTurn }, 'prj', turn, {
    leaseMs: 15_000,
    caller: new AbortController().signal,
    replySoFar: () => ({ text, mode: 'echo', message_id: 'part', now: 0 }),
  });
  const after = async (ms: number, more: string) => {
    text += more;
    await vi.advanceTimersByTimeAsync(ms);
    return stored.splice(0);
  };
  expect(await after(1400, 'One')).toEqual([]);
  expect(await after(100, ' two')).toEqual(['0 One two']);
  expect(await after(1500, '')).toEqual([]);
  fails = true;
  expect(await after(1500, ' three')).toEqual([]);
  fails = false;
  expect(await after(1500, ' four')).toEqual(['7  three four']);
  held.release();
  expect(await after(5000, ' five')).toEqual([]);
});
