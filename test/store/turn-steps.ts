// Steps with turns for tests of every store.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionStore, Turn, TurnStart } from '../../src/store/session-store.ts';
import { firstPage, turnStart } from './store-samples.ts';

export async function begin(
  store: SessionStore,
  project: string,
  start: Partial<TurnStart> = {},
): Promise<Turn> {
  const begun = await store.beginTurn(project, turnStart(start));
  if (begun.kind !== 'begun') throw new Error(`the turn is ${begun.kind}`);
  return begun.turn;
}

export async function contents(store: SessionStore, project: string, session: string): Promise<string[]> {
  const page = await store.listMessages(project, session, firstPage);
  return (page?.items ?? []).map((message) => `${message.finish_reason ?? 'user'}: ${message.content}`);
}

/** A turn whose lease is over when this resolves; nobody has taken it yet. */
export async function beginWithEndedLease(
  store: SessionStore,
  project: string,
  start: Partial<TurnStart> = {},
): Promise<Turn> {
  const turn = await begin(store, project, { ...start, lease: { owner: 'owner-1', ms: 1 } });
  await delay(5);
  return turn;
}
