import type { SessionStore, Turn, TurnStart } from '../../src/store/session-store.ts';
import { firstPage, startOfTime, turnStart } from './store-samples.ts';

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

/** When the lease of a turn of {@link turnStart} is over. */
export const expired = startOfTime + 60_000;
