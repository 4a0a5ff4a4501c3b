// A turn that is held longer than its lease: nobody else gets it while it is held.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { HeldTurn } from '../../src/local/held-turn.ts';
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
